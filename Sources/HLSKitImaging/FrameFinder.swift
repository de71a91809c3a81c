import HLSKitMedia

/// Selects, from samples in decoding order, those that the frames at requested times need.
///
/// It keeps the samples from the last sync sample that is not after the next requested time. They become a ``Find`` as
/// soon as no later sample can belong to them.
struct FrameFinder {
    struct Placed {
        var sample: MediaSample
        var pts: Duration
        var dts: Duration
    }

    /// Samples that begin with a sync sample, and the requested times that they are sufficient for.
    struct Find {
        var samples: [Placed]
        var requests: [RequestedImage]

        var start: Duration { samples.first?.pts ?? .zero }
    }

    /// The largest amount of compressed media to keep between two sync samples.
    private static let maximumByteCount = 128 << 20

    /// The requested times, in ascending order.
    private var requests: ArraySlice<RequestedImage>
    private var closed: [RequestedImage] = []
    private var samples: [Placed] = []
    private var byteCount = 0
    /// The largest number of frames decoded before a frame that is shown before them (H.264 §A.3.1, H.265 §A.4.2:
    /// `max_dec_frame_buffering`, `sps_max_num_reorder_pics`).
    private static let maximumReorderCount = 16

    init(_ requests: [RequestedImage]) { self.requests = requests[...] }

    var isDone: Bool { requests.isEmpty && closed.isEmpty }
    var open: [RequestedImage] { closed + requests }

    /// Adds the next sample and returns the find that it completes.
    ///
    /// - Throws: `limitExceeded` if decoding would have to start too far back.
    mutating func take(_ placed: Placed) throws(MediaError) -> Find? {
        var find: Find?
        if !samples.isEmpty {
            close(by: placed)
            let isNewStart = placed.sample.isSync && requests.first.map { placed.pts <= $0.time } == true
            if !closed.isEmpty, requests.isEmpty || isNewStart { find = takeFind() }
            if requests.isEmpty { return find }
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

    private mutating func close(by placed: Placed) {
        // If the first frame is shown after its decoding time, decoding times are reliable: later decoding means later
        // presentation. Otherwise frames may be shown before their decoding times by an unknown amount (negative
        // composition offsets), and the reordering depth decides.
        let isDelayed = samples.first.map { $0.pts > $0.dts } == true
        while let request = requests.first, placed.pts > request.time {
            let isPast =
                isDelayed
                ? placed.dts > request.time
                : samples.count { $0.pts > request.time } >= Self.maximumReorderCount
            guard isPast else { return }
            closed.append(request)
            requests = requests.dropFirst()
        }
    }

    /// Ends the samples. Those that remain serve all open times.
    mutating func finish() -> Find? {
        closed += requests
        requests = []
        guard !samples.isEmpty, !closed.isEmpty else { return nil }
        return takeFind()
    }

    private mutating func takeFind() -> Find {
        defer { closed = [] }
        return Find(samples: samples, requests: closed)
    }

    private mutating func restart() {
        samples = []
        byteCount = 0
    }
}
