import HLSKitCaptions
import HLSKitMedia
import HLSKitTime

/// Reads the closed captions of all services out of the video that is loaded, ahead of its presentation, so that
/// another service can be shown at once.
///
/// Media comes in the order of decoding. What was read before is passed over where it comes again. A caption is known
/// when it leaves the screen; what is on screen where loaded media ends is told by ``open(of:)``.
struct ClosedCaptionReader: Sendable {
    /// Captions that are kept, for showing another service and for nothing else.
    private static let maxKnownCount = 4096
    private static let timescale: Int32 = 90_000
    /// A frame of NTSC, in units of 1/90 000 s: line 21 carries a pair of each field in one.
    private static let frameLength: Int64 = 3003

    /// nil where pictures are not of the stream itself.
    private var track: MediaTrack?
    /// Captions come in a track of their own.
    private var hasOwnTrack = false
    /// Of the timeline that is read.
    private var offset: Duration?
    private var reorderer = ClosedCaptionReorderer()
    private var decoder = ClosedCaptionDecoder()
    /// Up to where captions were decoded, and up to where there are pictures.
    private var decodedUpTo: Int64?
    private var edge: Int64?
    private(set) var known: [ClosedCaption] = []
    private var fresh: [ClosedCaption] = []
    /// Those that have said something.
    private(set) var services: Set<ClosedCaptionService> = []
    private var openCaptions: [ClosedCaption]?

    // MARK: In

    /// The pictures that follow are of this track.
    ///
    /// - Parameter isStill: they are single ones, shown in the place of the stream.
    mutating func begin(_ track: MediaTrack, isStill: Bool) {
        self.track = isStill ? nil : track
    }

    /// Takes a picture that was demuxed.
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

    /// Takes a sample of a track of captions, which counts in the place of what pictures carry. Pairs of the same field
    /// come one in a frame.
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

    /// There is no more media: what is on screen is over.
    mutating func finish() {
        decode(reorderer.finish())
        end()
    }

    /// Media is loaded anew from this time on.
    mutating func truncate(from time: Duration) {
        guard let time = Self.units(time) else { return }
        let limit = MediaTime(value: time, timescale: Self.timescale)
        known.removeAll { $0.caption.timeRange.start >= limit }
        fresh.removeAll { $0.caption.timeRange.start >= limit }
        forgetScreen()
        edge = edge.map { min($0, time) }
    }

    /// Loading begins anew elsewhere.
    mutating func flush() {
        known = []
        fresh = []
        hasOwnTrack = false
        offset = nil
        edge = nil
        forgetScreen()
    }

    // MARK: Out

    /// Gives the captions that are whole since the last call.
    mutating func takeFresh() -> [ClosedCaption] {
        defer { fresh = [] }
        return fresh
    }

    /// What a service shows where the loaded media ends. It begins when it was written first; its end is not known.
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

    /// Captions of one timeline have nothing to do with those of the next: an advertisement ends what is on screen.
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
            // The same pictures come again where a segment is loaded a second time.
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
