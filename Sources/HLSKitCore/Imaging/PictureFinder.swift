import HLSMedia

/// Decides, while samples of a video track pass by in decoding order, which of them the pictures of some times need.
///
/// Holds the samples since the last one at which decoding can start and that is not behind the next time that is wanted;
/// they become a ``Find`` as soon as nothing that follows can belong to them.
struct PictureFinder {
    /// A sample with its item times.
    struct Placed {
        var sample: MediaSample
        var pts: Duration
        var dts: Duration
    }

    /// Samples that begin with one at which decoding can start, and the wishes that they are enough for.
    struct Find {
        var samples: [Placed]
        var wishes: [ImageWish]

        var start: Duration { samples.first?.pts ?? .zero }
    }

    /// More compressed media than this between two places where decoding can start is not held.
    private static let maximumByteCount = 128 << 20

    /// In the order of time.
    private var wishes: ArraySlice<ImageWish>
    /// Those of the samples that are held.
    private var closed: [ImageWish] = []
    private var samples: [Placed] = []
    private var byteCount = 0
    /// The most by which a sample was to be shown before it was decoded.
    private var lateness = Duration.zero

    /// - Parameter wishes: in the order of time.
    init(_ wishes: [ImageWish]) { self.wishes = wishes[...] }

    /// Nothing more is wanted.
    var isDone: Bool { wishes.isEmpty && closed.isEmpty }
    /// Those of which nothing has been found so far.
    var open: [ImageWish] { closed + wishes }

    /// Takes the next sample; a find that it completes.
    ///
    /// - Throws: `limitExceeded` where decoding would have to start too far back.
    mutating func take(_ placed: Placed) throws(MediaError) -> Find? {
        var find: Find?
        if !samples.isEmpty {
            // All that is shown by then has passed: what is decoded later is shown later, but for the little by which
            // some files count decoding times too late.
            lateness = max(lateness, placed.dts - placed.pts)
            while let wish = wishes.first, placed.dts - lateness > wish.time, placed.pts > wish.time {
                closed.append(wish)
                wishes = wishes.dropFirst()
            }
            let isNewStart = placed.sample.isSync && wishes.first.map { placed.pts <= $0.time } == true
            if !closed.isEmpty, wishes.isEmpty || isNewStart { find = takeFind() }
            if wishes.isEmpty { return find }
            if isNewStart { restart() }
        }
        guard !samples.isEmpty || placed.sample.isSync else { return find }
        byteCount += placed.sample.data.count
        guard byteCount <= Self.maximumByteCount else {
            throw MediaError(
                code: .limitExceeded, text: "no picture that can be decoded by itself in \(byteCount) bytes")
        }
        samples.append(placed)
        return find
    }

    /// No sample follows: what is held is for all that is still wanted.
    mutating func finish() -> Find? {
        closed += wishes
        wishes = []
        guard !samples.isEmpty, !closed.isEmpty else { return nil }
        return takeFind()
    }

    private mutating func takeFind() -> Find {
        defer { closed = [] }
        return Find(samples: samples, wishes: closed)
    }

    private mutating func restart() {
        samples = []
        byteCount = 0
    }
}
