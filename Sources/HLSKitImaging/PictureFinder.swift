import HLSKitMedia

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
    /// So many pictures at most are decoded before one that is shown before them (H.264 §A.3.1, H.265 §A.4.2:
    /// `max_dec_frame_buffering`, `sps_max_num_reorder_pics`).
    private static let maximumReorderCount = 16

    /// - Parameter wishes: in the order of time.
    init(_ wishes: [ImageWish]) { self.wishes = wishes[...] }

    /// Nothing more is wanted.
    var isDone: Bool { wishes.isEmpty && closed.isEmpty }
    /// Those of which nothing has been found so far.
    var open: [ImageWish] { closed + wishes }

    /// Takes the next sample; a find that it completes.
    ///
    /// - Throws: `limitExceeded` if decoding would have to start too far back.
    mutating func take(_ placed: Placed) throws(MediaError) -> Find? {
        var find: Find?
        if !samples.isEmpty {
            close(by: placed)
            let isNewStart = placed.sample.isSync && wishes.first.map { placed.pts <= $0.time } == true
            if !closed.isEmpty, wishes.isEmpty || isNewStart { find = takeFind() }
            if wishes.isEmpty { return find }
            if isNewStart { restart() }
        }
        guard !samples.isEmpty || placed.sample.isSync else { return find }
        byteCount += placed.sample.data.count
        guard byteCount <= Self.maximumByteCount else {
            throw MediaError(
                code: .limitExceeded, text: "no frame that can be decoded by itself in \(byteCount) bytes")
        }
        samples.append(placed)
        return find
    }

    /// Closes the wishes of which all that is shown by then has passed.
    private mutating func close(by placed: Placed) {
        // Where the first picture waits for others before it is shown, decoding times are true: what is decoded later is
        // shown later. Where it does not, no one knows how far some pictures are shown before their decoding times
        // (negative composition offsets), and the depth of reordering decides.
        let isDelayed = samples.first.map { $0.pts > $0.dts } == true
        while let wish = wishes.first, placed.pts > wish.time {
            let isPast =
                isDelayed
                ? placed.dts > wish.time
                : samples.count { $0.pts > wish.time } >= Self.maximumReorderCount
            guard isPast else { return }
            closed.append(wish)
            wishes = wishes.dropFirst()
        }
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
