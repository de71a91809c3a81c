import HLSKitAsset
import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitSelection
import HLSKitTime

/// Reads one segment: buffers its bytes until they can be used, decrypts and demuxes them.
struct SegmentReader {
    private(set) var job: SegmentJob
    var unread = UnreadBytes()
    var isComplete = false
    var isPrepared = false
    var isDecrypted = false
    var isDemuxed = false
    var hasFailed = false
    /// Whether the segment waits for the head of the stream, which its frames need.
    ///
    /// `isHeadNews`: whether the head has arrived or will not arrive.
    var awaitsHead = false
    var isHeadNews = false
    var headKind = MediaKind.video
    var head: StreamHead?
    var awaitsTables = false
    private var areTablesKnown = false
    private var demuxedByteCount = 0
    private var held: [DemuxerEvent] = []
    /// Whether the only wanted frame of the segment was handed on.
    var hasFrame = false
    var decryption: SegmentDecryption?
    var sampleDecryption: SampleDecryption?
    var initialization: MP4InitializationSection?
    var selection: TrackSelection
    /// Metadata without a known position.
    var metadata: [TimedMetadata] = []
    var announced: Set<MediaKind> = []
    private let declared: ContainerProbe.Container?
    private let audioRule: AudioTrackRule?
    private var container: ContainerProbe.Container?
    private var demuxer: (any Demuxer)?
    /// The parser that replaces a demuxer in the subtitle lane.
    private var webVTT: WebVTTParser?
    private(set) var timestampMap = WebVTTTimestampMap()
    /// The previous segment's map, for a segment without a header.
    var earlierTimestampMap: WebVTTTimestampMap?
    private var styles = WebVTTCaptions()
    private var cues: [MediaCue] = []
    /// The number of cues in the whole segment, including skipped ones.
    private var cueCount = 0
    private var textSamples = TextSampleReader()
    /// Closed captions from a caption track without a known position, in track time.
    var closedCaptions: [HeldCaptions] = []
    private var unidentified: [UInt8] = []
    private var byteCount = 0
    /// The number of bytes when the segment was previously read to its end.
    private var earlierByteCount: Int?
    private var placements: [Int: ItemTimeline.Placement] = [:]
    /// The first timestamp of each track, wanted or not. It is placed at the segment's start in the playlist.
    private var firstPTS: [Int: Int64] = [:]
    private var firstTrack: MediaTrack?
    /// Whether kinds were selected within the segment, so that its media may start late.
    private var beganLate = false
    /// Sample counts by track: seen so far, seen at the last delivery, and delivered by earlier readings.
    private var seen: [Int: Int] = [:]
    private var delivered: [Int: Int] = [:]
    private var repeated: [Int: Int] = [:]
    private var extents: [Int: TrackExtent] = [:]
    private var repairs: [Int: TimestampRepair] = [:]
    /// The tables in a transport stream's initialization section, or the header in a WebVTT one.
    var prologue: [UInt8] = []
    private var prologueEvents: [DemuxerEvent] = []
    var rest: TransportStreamRest?
    /// Whether output waits for the first sync frame, and the output that waits.
    var awaitsSync: Bool
    var heldOutput: [LaneOutput] = []

    init(job: SegmentJob, declared: ContainerProbe.Container? = nil, audioRule: AudioTrackRule? = nil) {
        self.job = job
        self.declared = declared
        self.audioRule = audioRule
        awaitsSync = job.mayBeginEarlier
        selection = TrackSelection(of: job.id.lane, audio: audioRule)
    }

    private static let maximumMetadataCount = 1024
    /// The number of bytes to search for tables, which are at the front, before the head is requested.
    private static let longestWayToTables = 128 << 10

    /// Returns whether this is a transport stream without a program in its first bytes. Returns `true` at most once.
    mutating func lacksTables(isEnd: Bool) -> Bool {
        guard !areTablesKnown, isEnd || demuxedByteCount > Self.longestWayToTables,
            let demuxer = demuxer as? TransportStreamDemuxer
        else { return false }
        areTablesKnown = true
        return !demuxer.hasProgram
    }

    /// Adds tables from elsewhere. The bytes received before them are then demuxed as well.
    mutating func read(tables: [UInt8], to events: inout [DemuxerEvent]) {
        try? demuxer?.append(tables[...], to: &events)
    }

    mutating func hold(_ events: ArraySlice<DemuxerEvent>) { held += events }

    mutating func takeHeld() -> [DemuxerEvent] {
        defer { held = [] }
        return held
    }

    mutating func restart(_ job: SegmentJob) {
        let old = self
        self = SegmentReader(job: job, declared: declared, audioRule: audioRule)
        guard job.url == old.job.url else { return }
        // The bytes repeat, so skip the samples that any earlier reading handed on.
        repeated = old.repeated.merging(old.delivered) { max($0, $1) }
        earlierByteCount = old.isDemuxed ? old.byteCount : nil
        announced = old.announced
        beganLate = old.beganLate
        extents = old.extents
        repairs = old.repairs
        placements = old.placements
        (awaitsSync, heldOutput) = (old.awaitsSync, old.heldOutput)
    }

    /// Returns whether the frame at the start of the window can be decoded, or `nil` while this is unknown.
    func beginsInTime(_ output: [LaneOutput], isDone: Bool) -> Bool? {
        var frameCount = 0
        for element in output {
            switch element {
            case .sample(_, .video, _): frameCount += 1
            case .sync(let time): return frameCount == 1 || job.window.from.map { time <= $0 } ?? true
            default: break
            }
        }
        if isDone { return frameCount == 0 }
        return !selection.tracks.isEmpty && selection.selected[.video] == nil ? true : nil
    }

    // MARK: Encryption

    private(set) var lacksKey = false

    mutating func needsKey(for sample: MediaSample, of track: MediaTrack) -> Bool {
        guard sampleDecryption == nil, let encryption = sample.encryption,
            track.mediaType == .video || track.mediaType == .audio
        else { return false }
        // Small samples may be completely unencrypted.
        if !encryption.subsamples.isEmpty, encryption.subsamples.allSatisfy({ $0.protectedByteCount == 0 }) {
            return false
        }
        lacksKey = true
        return true
    }

    func decrypted(
        _ sample: MediaSample, of track: MediaTrack
    ) throws(DecryptionError) -> (sample: MediaSample, track: MediaTrack) {
        guard let sampleDecryption else { return (sample, track) }
        var (sample, track) = (sample, track)
        // Packed audio does not signal its encryption.
        if container == .packedAudio, track.mediaType == .audio { sample.encryption = .elementaryStream }
        track.encryption = nil
        return (try sampleDecryption.decrypt(sample, track.codec), track)
    }

    func decrypt(_ bytes: [UInt8]) throws(SegmentFailure) -> [UInt8] {
        guard let decryption else { return bytes }
        return try decryption.decrypt(bytes)
    }

    /// Returns the last decrypted bytes. Padding is not required if the result is media.
    ///
    /// Servers cut segments to whole blocks, or fill the last block with zeros.
    mutating func finishDecrypting() throws(SegmentFailure) -> [UInt8] {
        guard let end = try decryption?.finish() else { return [] }
        guard !end.isPadded else { return end.bytes }
        let container =
            container ?? ContainerProbe.identify((unidentified + end.bytes)[...], isComplete: true, declared: declared)
        if case .unknown? = container { throw .wrongKey }
        let blockByteCount = AES128Decryptor.blockByteCount
        guard case .transportStream(let stride)? = container else {
            mayEndEarly = true
            return end.bytes
        }
        // Complete the last packet by filling in the lost bytes.
        let excess = (byteCount + end.bytes.count) % stride
        if excess < blockByteCount { return end.bytes.dropLast(excess) }
        guard stride - excess < blockByteCount else { return end.bytes }
        return end.bytes + [UInt8](repeating: 0xFF, count: stride - excess)
    }

    /// Whether less than a block may be missing or excess at the end.
    private var mayEndEarly = false

    // MARK: Demuxing

    mutating func demux(_ bytes: [UInt8], to events: inout [DemuxerEvent]) throws(MediaError) {
        byteCount += bytes.count
        if isOpen { return try feed(bytes, to: &events) }
        unidentified += bytes
        guard try openDemuxer(isEnd: false) else { return }
        try feedHead(to: &events)
    }

    mutating func finishDemuxing(to events: inout [DemuxerEvent]) throws(MediaError) {
        // Some servers send nothing while there is no cue, or for segments listed with a duration of 0 s.
        if byteCount == 0, job.id.lane == .subtitles || job.duration == .zero { return }
        if !isOpen {
            guard try openDemuxer(isEnd: true) else {
                throw MediaError(code: .truncated, text: "the segment is empty")
            }
            try feedHead(to: &events)
        }
        do { try demuxer?.finish(to: &events) } catch {
            guard mayEndEarly, error.code == .truncated else { throw error }
            events.append(.note("\(job.url): the encrypted segment has no padding, and may end early"))
        }
        guard webVTT != nil else { return }
        var found: [WebVTTEvent] = []
        try webVTT?.finish(to: &found)
        take(found, to: &events)
    }

    private mutating func readHeader(_ bytes: [UInt8]) throws(MediaError) {
        guard !bytes.isEmpty else { return }
        var parser = WebVTTParser()
        var found: [WebVTTEvent] = []
        try parser.append(bytes[...], to: &found)
        try parser.finish(to: &found)
        for event in found {
            switch event {
            case .timestampMap(let map): timestampMap = map
            case .block(let block): styles.add(block)
            case .cue, .note: break
            }
        }
    }

    private var isOpen: Bool { demuxer != nil || webVTT != nil }

    private mutating func feedHead(to events: inout [DemuxerEvent]) throws(MediaError) {
        let bytes = unidentified
        unidentified = []
        try feed(bytes, to: &events)
    }

    private mutating func feed(_ bytes: [UInt8], to events: inout [DemuxerEvent]) throws(MediaError) {
        demuxedByteCount += bytes.count
        events += prologueEvents
        prologueEvents = []
        try demuxer?.append(bytes[...], to: &events)
        guard webVTT != nil else { return }
        var found: [WebVTTEvent] = []
        try webVTT?.append(bytes[...], to: &found)
        take(found, to: &events)
    }

    private mutating func take(_ found: [WebVTTEvent], to events: inout [DemuxerEvent]) {
        for event in found {
            switch event {
            case .timestampMap(let map): timestampMap = map
            case .cue(let cue):
                // The cues get their item times later.
                guard countCue(&events) else { continue }
                let styled = styles.isEmpty ? nil : styles.caption(cue, timeRange: .zero)
                cues.append(MediaCue(cue: cue, styled: styled))
            case .note(let text): events.append(.note("\(job.url): \(text)"))
            case .block(let block): styles.add(block)
            }
        }
    }

    /// Returns whether to keep another cue of the segment. An excess of cues is reported once.
    private mutating func countCue(_ events: inout [DemuxerEvent]) -> Bool {
        cueCount += 1
        if cueCount == CueSchedule.maximumCount + 1 {
            events.append(.note("\(job.url): more than \(CueSchedule.maximumCount) cues; the rest is skipped"))
        }
        return cueCount <= CueSchedule.maximumCount
    }

    mutating func takeCues() -> CueBatch? {
        guard !cues.isEmpty else { return nil }
        defer { cues = [] }
        return CueBatch(
            cues: cues, map: timestampMap, timeline: job.timeline, start: job.start, duration: job.duration)
    }

    private mutating func openDemuxer(isEnd: Bool) throws(MediaError) -> Bool {
        guard var container = ContainerProbe.identify(unidentified[...], isComplete: isEnd, declared: declared) else {
            return false
        }
        if case .unknown = container, let stride = rest?.dividedStride {
            container = .transportStream(packetStride: stride)
        }
        var lacksHeader = false
        if case .unknown = container, job.id.lane == .subtitles, WebVTTParser.lacksHeader(unidentified[...]) {
            lacksHeader = true
            container = .webVTT
        }
        self.container = container
        ContainerProbe.removeImage(from: &unidentified, before: container)
        switch container {
        case .webVTT where job.id.lane == .subtitles:
            webVTT = WebVTTParser(mayLackHeader: lacksHeader)
            if lacksHeader, let earlierTimestampMap { timestampMap = earlierTimestampMap }
            try readHeader(prologue)
        case .mp4: demuxer = try container.makeDemuxer(initialization: initialization)
        case _ where job.id.lane == .subtitles:
            throw MediaError(code: .unknownContainer, byteOffset: 0, text: "no subtitles where they belong")
        case .transportStream where mayShareFrames: demuxer = TransportStreamDemuxer(continuing: rest)
        default: demuxer = try container.makeDemuxer(initialization: initialization)
        }
        if case .transportStream = container, !prologue.isEmpty {
            var events: [DemuxerEvent] = []
            try demuxer?.append(prologue[...], to: &events)
            prologueEvents = events
        }
        return true
    }

    /// The largest distance from the listed end at which media is complete.
    private static let endTolerance = Duration.milliseconds(250)

    /// Returns whether to accept a segment that ends within a transport packet. Some are cut at any byte.
    ///
    /// It is accepted if its media has the listed duration. It is also accepted if the rest is unavailable and not much
    /// is missing.
    ///
    /// - Parameter isAllThereIs: Whether the segment cannot be requested again.
    func takesEnd(_ error: MediaError, isAllThereIs: Bool) -> (isTaken: Bool, missing: Duration) {
        guard error.code == .truncated, demuxer is TransportStreamDemuxer else { return (false, .zero) }
        let missing = extents.isEmpty ? job.duration : max(.zero, job.start + job.duration - range.end)
        if !extents.isEmpty, missing <= Self.endTolerance { return (true, .zero) }
        let isLast = isAllThereIs || earlierByteCount == byteCount
        return (isLast && (missing <= job.duration / 2 || !hasSamples && restForNext?.holdsMedia == true), missing)
    }

    /// Whether frames of video and audio may continue in the next segment.
    ///
    /// Encrypted samples may not, because each segment has its own initialization vector.
    private var mayShareFrames: Bool { sampleDecryption == nil && !job.window.isStill }

    var restForNext: TransportStreamRest? { (demuxer as? TransportStreamDemuxer)?.rest }

    // MARK: Checking without demuxing

    mutating func check(_ bytes: [UInt8]) throws(MediaError) {
        byteCount += bytes.count
        guard container == nil else { return }
        let limit = ContainerProbe.maximumByteCount(of: unidentified.isEmpty ? bytes : unidentified)
        unidentified += bytes.prefix(max(0, limit - unidentified.count))
        container = ContainerProbe.identify(unidentified[...], isComplete: false, declared: declared)
        try refuseUnknown()
    }

    mutating func checkEnd() throws(MediaError) {
        container = container ?? ContainerProbe.identify(unidentified[...], isComplete: true, declared: declared)
        unidentified = []
        try refuseUnknown()
        if case .transportStream(let stride) = container, byteCount % stride != 0 {
            throw MediaError(
                code: .truncated, byteOffset: byteCount,
                text: "\(byteCount) bytes are not a whole number of packets of \(stride)")
        }
    }

    private func refuseUnknown() throws(MediaError) {
        guard case .unknown(let appearance) = container else { return }
        throw ContainerProbe.refusal(ofAppearance: appearance)
    }

    // MARK: Tracks and times

    mutating func reselect(wanted: Set<MediaKind>) {
        guard !selection.tracks.isEmpty else { return }
        beganLate = true
        // A dropped track must not limit the end of the segment.
        for track in selection.reselect(wanted: wanted) { extents[track.id] = nil }
    }

    var silentTracks: Set<Int> { selection.silent { firstPTS[$0] == nil } }

    mutating func read(_ sample: MediaSample, of track: MediaTrack, notes: inout [String]) {
        if job.id.lane == .subtitles {
            let found = textSamples.read(sample, of: track, notes: &notes)
            cues += found.prefix(max(0, CueSchedule.maximumCount - cueCount))
            cueCount += found.count
            return
        }
        let data = sample.data.withUnsafeBytes { bytes in
            let bytes = [UInt8](bytes)[...]
            return track.codec == .cea608
                ? ClosedCaptionData(line21Sample: bytes) : ClosedCaptionData(distributionSample: bytes)
        }
        guard !data.pairs.isEmpty else { return }
        closedCaptions.append(
            HeldCaptions(
                time: ItemTimeline.duration(sample.pts, track.timescale),
                duration: ItemTimeline.duration(max(0, sample.duration), track.timescale), data: data))
    }

    var hasSamples: Bool { !seen.isEmpty }

    mutating func skipsRepeated(_ sample: MediaSample) -> Bool {
        let number = seen[sample.trackID, default: 0]
        guard number > repeated[sample.trackID, default: 0] else { return true }
        delivered[sample.trackID] = number
        return false
    }

    mutating func see(_ sample: MediaSample) {
        seen[sample.trackID, default: 0] += 1
        guard firstPTS[sample.trackID] == nil else { return }
        firstPTS[sample.trackID] = sample.pts
        guard firstTrack == nil, let track = selection.track(id: sample.trackID),
            track.mediaType == .video || track.mediaType == .audio
        else { return }
        firstTrack = track
    }

    /// Whether no output takes the segment's video or audio, so that nothing is placed by media timestamps.
    var presentsNothing: Bool { !selection.tracks.isEmpty && selection.presentedCount == 0 }

    /// The item time of metadata in a segment whose media has no output, or `nil` before the first sample.
    ///
    /// It is the segment's playlist start plus the offset from the segment's first sample.
    func listedTime(of metadata: TimedMetadata) -> Duration? {
        guard presentsNothing, let track = firstTrack, !track.timestampsAreRelative, let pts = firstPTS[track.id] else {
            return nil
        }
        let distance = metadata.time - ItemTimeline.duration(pts, track.timescale)
        guard metadata.wraps else { return job.start + distance }
        return job.start + distance - ItemTimeline.wrapPeriod * Int64((distance / ItemTimeline.wrapPeriod).rounded())
    }

    mutating func placement(
        of sample: MediaSample, in track: MediaTrack, timeline: inout ItemTimeline
    ) -> ItemTimeline.Placement {
        if let placement = placements[track.id] { return placement }
        let placement = timeline.placement(
            for: job.timeline, lane: job.id.lane, firstPTS: firstPTS[track.id] ?? sample.pts, track: track,
            segmentStart: job.start, continues: !job.startsNewSequence)
        placements[track.id] = placement
        return placement
    }

    /// Corrects an implausible sample time. Returns `true` for the first such sample.
    mutating func repair(_ sample: inout MediaSample, of track: MediaTrack, offset: Duration) -> Bool {
        let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
        var repair = repairs[track.id] ?? TimestampRepair()
        let before = repair.correction
        let lead = ItemTimeline.duration(
            sample.pts.subtractingReportingOverflow(sample.dts).partialValue, track.timescale)
        // If one of the two times is damaged, they are far apart.
        let isPlausible = abs(lead) <= TimestampRepair.margin
        let correction = repair.correction(
            at: time, decodedAt: isPlausible ? time - lead : time,
            duration: ItemTimeline.duration(max(0, sample.duration), track.timescale),
            limit: job.duration + TimestampRepair.margin,
            known: repairs.values.lazy.map(\.correction).filter { $0 != .zero })
        repairs[track.id] = repair
        guard correction != .zero else { return false }
        sample.pts = ItemTimeline.ticks(time + correction - offset, track.timescale)
        sample.dts = isPlausible ? sample.pts - ItemTimeline.ticks(lead, track.timescale) : sample.pts
        return before == .zero
    }

    mutating func hold(_ sample: MediaSample, of track: MediaTrack) {
        guard !job.window.isStill, metadata.count < Self.maximumMetadataCount else { return }
        let time = ItemTimeline.duration(sample.pts, track.timescale)
        metadata.append(
            TimedMetadata(
                time: time, trackID: track.id, wraps: track.wrapsAt33Bits, content: .id3(sample.data)))
    }

    mutating func hold(_ message: EventMessage) {
        guard !job.window.isStill, metadata.count < Self.maximumMetadataCount else { return }
        let scale = Int32(clamping: message.timescale)
        let duration = message.duration.map { ItemTimeline.duration(Int64($0), scale) }
        switch message.timing {
        case .presentationTime(let value):
            metadata.append(
                TimedMetadata(
                    time: ItemTimeline.duration(Int64(clamping: value), scale), wraps: message.wrapsAt33Bits,
                    duration: duration, content: .event(message)))
        case .afterSegmentStart(let value):
            metadata.append(
                TimedMetadata(
                    time: ItemTimeline.duration(Int64(value), scale), isFromSegmentStart: true, duration: duration,
                    content: .event(message)))
        }
    }

    mutating func note(_ sample: MediaSample, of track: MediaTrack, offset: Duration) {
        guard let shown = ShownMedia(track.shownRange).extent(of: sample) else { return }
        let time = ItemTimeline.duration(shown.pts, track.timescale) + offset
        let length = ItemTimeline.duration(shown.duration, track.timescale)
        extents[track.id, default: TrackExtent(first: time)].note(time, length)
    }

    var ends: [MediaKind: Duration] {
        selection.selected.compactMapValues { extents[$0.id]?.end }.filter { $0.key == .video || $0.key == .audio }
    }

    /// The time up to which all tracks have media.
    var demuxedUpTo: Duration? {
        guard !extents.isEmpty, extents.count >= selection.presentedCount else {
            return nil
        }
        return extents.values.map(\.latest).min()
    }

    /// The actual range of the media on the item's timeline, or the playlist's range without wanted media.
    var range: (start: Duration, end: Duration) {
        guard let start = extents.values.map(\.earliest).min(), let end = extents.values.map(\.end).min() else {
            return (job.start, job.start + job.duration)
        }
        return (beganLate ? min(start, job.start) : start, max(start, end))
    }
}

struct HeldCaptions: Sendable {
    /// The time on the clock of the track.
    var time: Duration
    var duration: Duration
    var data: ClosedCaptionData
}
