import HLSKitCaptions
import HLSKitMedia
import HLSKitTime

/// Reads the closed captions of all services from loaded video, ahead of its presentation.
///
/// Reading ahead makes it possible to show another service at once. Media arrives in decoding order, and repeated media
/// is skipped. A caption is complete when it leaves the screen. ``open(of:)`` returns the captions that are still on
/// screen at the end of the loaded media.
struct ClosedCaptionReader: Sendable {
    /// The limit on stored captions, which are needed only when another service is selected.
    private static let maxKnownCount = 4096
    private static let timescale: Int32 = 90_000
    /// The duration of an NTSC frame in units of 1/90,000 s. Line 21 carries one pair per field in each frame.
    private static let frameLength: Int64 = 3003

    /// The video track, or `nil` for still frames that replace the stream.
    private var track: MediaTrack?
    private var hasOwnTrack = false
    private var offset: Duration?
    private var reorderer = ClosedCaptionReorderer()
    private var decoder = ClosedCaptionDecoder()
    /// The time up to which captions are decoded. `edge` is the time up to which frames are loaded.
    private var decodedUpTo: Int64?
    private var edge: Int64?
    private(set) var known: [ClosedCaption] = []
    private var fresh: [ClosedCaption] = []
    private(set) var services: Set<ClosedCaptionService> = []
    private var openCaptions: [ClosedCaption]?

    // MARK: In

    /// Called when the frames that follow belong to a new track.
    ///
    /// - Parameter isStill: Whether they are still frames shown instead of the stream.
    mutating func begin(_ track: MediaTrack, isStill: Bool) {
        self.track = isStill ? nil : track
    }

    mutating func add(_ sample: MediaSample, offset: Duration) {
        guard let track else { return }
        follow(offset)
        let data = hasOwnTrack ? ClosedCaptionData() : ClosedCaptionData(sample: sample, track: track)
        guard let pts = Self.units(ItemTimeline.duration(sample.pts, track.timescale) + offset),
            let dts = Self.units(ItemTimeline.duration(sample.dts, track.timescale) + offset)
        else { return }
        decode(reorderer.add(data, pts: pts, dts: dts))
        edge = max(edge ?? pts, pts)
        if !services.isEmpty || !data.pairs.isEmpty { openCaptions = nil }
    }

    /// Handles a sample of a caption track, which takes precedence over captions in the video.
    ///
    /// Pairs for the same field are spread over one frame each.
    mutating func add(_ data: ClosedCaptionData, at time: Duration, duration: Duration) {
        guard let start = Self.units(time), let length = Self.units(duration) else { return }
        hasOwnTrack = true
        let fields = [ClosedCaptionData.Pair.Kind.field1, .field2].map { kind in data.pairs.filter { $0.kind == kind } }
        let frameCount = fields.map(\.count).max() ?? 0
        let step = length > 0 ? min(Self.frameLength, length / Int64(max(1, frameCount))) : Self.frameLength
        var entries = (0..<frameCount).map { index in
            ClosedCaptionReorderer.Entry(
                pts: start + Int64(index) * max(1, step),
                data: ClosedCaptionData(pairs: fields.compactMap { $0.indices.contains(index) ? $0[index] : nil }))
        }
        let digital = data.pairs.filter { $0.kind == .packetStart || $0.kind == .packetData }
        if entries.isEmpty {
            entries = [.init(pts: start, data: ClosedCaptionData(pairs: digital))]
        } else {
            entries[0].data.pairs += digital
        }
        decode(entries)
        edge = max(edge ?? start, start)
        openCaptions = nil
    }

    mutating func finish() {
        decode(reorderer.finish())
        end()
    }

    mutating func truncate(from time: Duration) {
        guard let time = Self.units(time) else { return }
        let limit = MediaTime(value: time, timescale: Self.timescale)
        known.removeAll { $0.caption.timeRange.start >= limit }
        fresh.removeAll { $0.caption.timeRange.start >= limit }
        forgetScreen()
        edge = edge.map { min($0, time) }
    }

    mutating func flush() {
        known = []
        fresh = []
        hasOwnTrack = false
        offset = nil
        edge = nil
        forgetScreen()
    }

    // MARK: Out

    mutating func takeFresh() -> [ClosedCaption] {
        defer { fresh = [] }
        return fresh
    }

    /// Returns a service's captions on screen at the end of the loaded media. Their end times are unknown.
    mutating func open(of service: ClosedCaptionService) -> [Caption] {
        if openCaptions == nil {
            var captions: [ClosedCaption] = []
            var copy = decoder
            if let edge { copy.finish(at: MediaTime(value: edge, timescale: Self.timescale), to: &captions) }
            openCaptions = captions
        }
        return (openCaptions ?? []).filter { $0.service == service }.map(\.caption)
    }

    // MARK: Decoding

    /// Starts a new decoder for each timeline: captions on screen do not extend into an advertisement, for example.
    private mutating func follow(_ offset: Duration) {
        if let known = self.offset, known != offset {
            decode(reorderer.finish())
            end()
            decoder = ClosedCaptionDecoder()
        }
        self.offset = offset
    }

    private mutating func decode(_ entries: [ClosedCaptionReorderer.Entry]) {
        guard !entries.isEmpty else { return }
        var captions: [ClosedCaption] = []
        for entry in entries {
            // The same frames arrive again when a segment is loaded twice.
            if let decodedUpTo, entry.pts <= decodedUpTo { continue }
            decodedUpTo = entry.pts
            decoder.decode(entry.data, at: MediaTime(value: entry.pts, timescale: Self.timescale), to: &captions)
        }
        take(captions)
    }

    private mutating func end() {
        guard let edge else { return }
        var captions: [ClosedCaption] = []
        decoder.finish(at: MediaTime(value: edge, timescale: Self.timescale), to: &captions)
        take(captions)
        openCaptions = nil
    }

    private mutating func take(_ captions: [ClosedCaption]) {
        guard !captions.isEmpty else { return }
        known += captions
        fresh += captions
        services.formUnion(captions.map(\.service))
        if known.count > Self.maxKnownCount { known.removeFirst(known.count / 2) }
    }

    private mutating func forgetScreen() {
        decoder = ClosedCaptionDecoder()
        reorderer = ClosedCaptionReorderer()
        decodedUpTo = nil
        openCaptions = nil
    }

    private static func units(_ time: Duration) -> Int64? {
        let converted = MediaTime(time).converted(to: timescale)
        return converted.isNumeric && converted.value.magnitude < 1 << 60 ? converted.value : nil
    }
}
