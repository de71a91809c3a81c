import HLSKitAsset
import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitSelection
import HLSKitTime

/// Reads one segment: holds its bytes until they can be used, its decryptor and its demuxer.
struct SegmentReader {
    private(set) var job: SegmentJob
    var unread = UnreadBytes()
    var isComplete = false
    var isPrepared = false
    /// All bytes were decrypted, and all were demuxed.
    var isDecrypted = false
    var isDemuxed = false
    var hasFailed = false
    /// Its pictures cannot be decoded without what the head of the stream tells, which is on its way; then, that it is
    /// there or will not come.
    var awaitsHead = false
    var isHeadNews = false
    /// The media that cannot be decoded without.
    var headKind = MediaKind.video
    var head: StreamHead?
    /// It is the tables of the transport stream that are waited for.
    var awaitsTables = false
    /// Nothing is to be learnt of tables any more.
    private var areTablesKnown = false
    private var demuxedByteCount = 0
    /// What was demuxed meanwhile.
    private var held: [DemuxerEvent] = []
    /// The one picture that is wanted of the segment was handed on.
    var hasPicture = false
    var decryption: SegmentDecryption?
    var sampleDecryption: SampleDecryption?
    var initialization: MP4InitializationSection?
    var selection: TrackSelection
    /// Metadata that no place was found for yet.
    var metadata: [TimedMetadata] = []
    /// Kinds of which a track was announced in this segment.
    var announced: Set<MediaKind> = []
    private let declared: ContainerProbe.Container?
    private let audioRule: AudioTrackRule?
    private var container: ContainerProbe.Container?
    private var demuxer: (any Demuxer)?
    /// In the place of a demuxer, in the lane of subtitles.
    private var webVTT: WebVTTParser?
    private(set) var timestampMap = WebVTTTimestampMap()
    /// That of the segment before, for one without a header of its own.
    var earlierTimestampMap: WebVTTTimestampMap?
    private var styles = WebVTTCaptions()
    private var cues: [MediaCue] = []
    /// Of the whole segment, those that were left out too.
    private var cueCount = 0
    private var textSamples = TextSampleReader()
    /// Closed captions of a track of their own that no place was found for yet, at times of their track.
    var closedCaptions: [HeldCaptions] = []
    /// Bytes seen while the container is not known.
    private var unidentified: [UInt8] = []
    private var byteCount = 0
    /// How many bytes there were when the segment was read to its end before.
    private var earlierByteCount: Int?
    private var placements: [Int: ItemTimeline.Placement] = [:]
    /// Of each track, wanted or not: what stands where the playlist says that the segment starts.
    private var firstPTS: [Int: Int64] = [:]
    /// The track of pictures or sound that began first.
    private var firstTrack: MediaTrack?
    /// Kinds were selected in the middle of the segment: what is handed on need not reach back to its start.
    private var beganLate = false
    /// Samples of each track that came, how many of them had come with the last that was given, and the same of readings
    /// before this one.
    private var seen: [Int: Int] = [:]
    private var delivered: [Int: Int] = [:]
    private var repeated: [Int: Int] = [:]
    private var extents: [Int: TrackExtent] = [:]
    private var repairs: [Int: TimestampRepair] = [:]
    /// What the initialization section of a transport stream holds, its tables, or that of WebVTT, its header.
    var prologue: [UInt8] = []
    private var prologueEvents: [DemuxerEvent] = []
    /// What the segment before has left to this one.
    var rest: TransportStreamRest?

    /// - Parameter declared: what its media is in, whatever its bytes look like.
    /// - Parameter audioRule: chooses among several tracks of audio.
    init(job: SegmentJob, declared: ContainerProbe.Container? = nil, audioRule: AudioTrackRule? = nil) {
        self.job = job
        self.declared = declared
        self.audioRule = audioRule
        selection = TrackSelection(of: job.id.lane, audio: audioRule)
    }

    /// So much of a segment waits for a place.
    private static let maximumMetadataCount = 1024
    /// Tables come at the front of a segment; one that has none in its first bytes is looked at elsewhere.
    private static let longestWayToTables = 128 << 10

    /// Whether this is a transport stream that tells of no program in its first bytes, or at all. True once at most.
    mutating func lacksTables(isEnd: Bool) -> Bool {
        guard !areTablesKnown, isEnd || demuxedByteCount > Self.longestWayToTables,
            let demuxer = demuxer as? TransportStreamDemuxer
        else { return false }
        areTablesKnown = true
        return !demuxer.hasProgram
    }

    /// Takes tables that were found elsewhere: what came before them is read as well.
    mutating func read(tables: [UInt8], to events: inout [DemuxerEvent]) {
        // Tables that cannot be read are none.
        try? demuxer?.append(tables[...], to: &events)
    }

    /// Keeps what was demuxed until the head of the stream is there.
    mutating func hold(_ events: ArraySlice<DemuxerEvent>) { held += events }

    mutating func takeHeld() -> [DemuxerEvent] {
        defer { held = [] }
        return held
    }

    mutating func restart(_ job: SegmentJob) {
        let old = self
        self = SegmentReader(job: job, declared: declared, audioRule: audioRule)
        guard job.url == old.job.url else { return }
        // The same bytes again: what was handed on is passed over, by whichever reading came furthest.
        repeated = old.repeated.merging(old.delivered) { max($0, $1) }
        earlierByteCount = old.isDemuxed ? old.byteCount : nil
        announced = old.announced
        beganLate = old.beganLate
        extents = old.extents
        repairs = old.repairs
        placements = old.placements
    }

    // MARK: Encryption

    /// A sample was encrypted, and nothing says by what key.
    private(set) var lacksKey = false

    /// Whether a sample is of no use without a key that nothing names.
    mutating func needsKey(for sample: MediaSample, of track: MediaTrack) -> Bool {
        guard sampleDecryption == nil, let encryption = sample.encryption,
            track.mediaType == .video || track.mediaType == .audio
        else { return false }
        // Small samples may be all in the clear.
        if !encryption.subsamples.isEmpty, encryption.subsamples.allSatisfy({ $0.protectedByteCount == 0 }) {
            return false
        }
        lacksKey = true
        return true
    }

    /// A sample and its track in the clear.
    func decrypted(
        _ sample: MediaSample, of track: MediaTrack
    ) throws(DecryptionError) -> (sample: MediaSample, track: MediaTrack) {
        guard let sampleDecryption else { return (sample, track) }
        var (sample, track) = (sample, track)
        // Packed audio has no word for it.
        if container == .packedAudio, track.mediaType == .audio { sample.encryption = .elementaryStream }
        track.encryption = nil
        return (try sampleDecryption.decrypt(sample, track.codec), track)
    }

    func decrypt(_ bytes: [UInt8]) throws(SegmentFailure) -> [UInt8] {
        guard let decryption else { return bytes }
        return try decryption.decrypt(bytes)
    }

    /// The last bytes in the clear. What decrypts to media needs no padding: servers cut segments to whole blocks, or fill the
    /// last one with zeros.
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
        // The last packet ends as a whole one, with what is lost of it filled in.
        let excess = (byteCount + end.bytes.count) % stride
        if excess < blockByteCount { return end.bytes.dropLast(excess) }
        guard stride - excess < blockByteCount else { return end.bytes }
        return end.bytes + [UInt8](repeating: 0xFF, count: stride - excess)
    }

    /// Less than a block may be missing at the end, or be there too much.
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
        // Servers that have no cue for a while send nothing at all, nor do some for what they list as lasting 0 s.
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

    /// Takes the header that an initialization section of WebVTT is.
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
                // Times are put in place later.
                guard countCue(&events) else { continue }
                let styled = styles.isEmpty ? nil : styles.caption(cue, timeRange: .zero)
                cues.append(MediaCue(cue: cue, styled: styled))
            case .note(let text): events.append(.note("\(job.url): \(text)"))
            case .block(let block): styles.add(block)
            }
        }
    }

    /// Whether one more cue of the segment is kept. That there are too many is told once.
    private mutating func countCue(_ events: inout [DemuxerEvent]) -> Bool {
        cueCount += 1
        if cueCount == CueSchedule.maximumCount + 1 {
            events.append(.note("\(job.url): more than \(CueSchedule.maximumCount) cues; the rest is skipped"))
        }
        return cueCount <= CueSchedule.maximumCount
    }

    /// The cues that were read since the last call; nil where there are none.
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

    /// Media that ends this close to where it is listed to end is all there.
    private static let endTolerance = Duration.milliseconds(250)

    /// Whether a segment that ends within a transport packet is taken for whole: its media is as long as it is listed, or
    /// nothing else is to be had of it and it is not much shorter. Some are cut at any byte.
    ///
    /// - Parameter isAllThereIs: it cannot be asked for again.
    func takesEnd(_ error: MediaError, isAllThereIs: Bool) -> (isTaken: Bool, missing: Duration) {
        guard error.code == .truncated, demuxer is TransportStreamDemuxer else { return (false, .zero) }
        let missing = extents.isEmpty ? job.duration : max(.zero, job.start + job.duration - range.end)
        if !extents.isEmpty, missing <= Self.endTolerance { return (true, .zero) }
        let isLast = isAllThereIs || earlierByteCount == byteCount
        return (isLast && (missing <= job.duration / 2 || !hasSamples && restForNext?.holdsMedia == true), missing)
    }

    /// Pictures and frames of sound may begin in one segment and end in the next. Where samples are encrypted each segment has a
    /// vector of its own.
    private var mayShareFrames: Bool { sampleDecryption == nil && !job.window.isStill }

    /// What this segment, which has ended, leaves to the next.
    var restForNext: TransportStreamRest? { (demuxer as? TransportStreamDemuxer)?.rest }

    // MARK: Checking without demuxing

    /// Looks whether the bytes are media at all, and drops them.
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

    /// Hands on other kinds of media from here on.
    mutating func reselect(wanted: Set<MediaKind>) {
        guard !selection.tracks.isEmpty else { return }
        beganLate = true
        // That nothing more of it comes does not end the segment.
        for track in selection.reselect(wanted: wanted) { extents[track.id] = nil }
    }

    /// Tracks that were chosen and gave nothing, where another of their kind did.
    var silentTracks: Set<Int> { selection.silent { firstPTS[$0] == nil } }

    /// Takes a sample of text: cues, or closed captions.
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

    /// Samples of any track have come out of the segment.
    var hasSamples: Bool { !seen.isEmpty }

    /// Whether a reading before this one has already given the sample.
    mutating func skipsRepeated(_ sample: MediaSample) -> Bool {
        let number = seen[sample.trackID, default: 0]
        guard number > repeated[sample.trackID, default: 0] else { return true }
        delivered[sample.trackID] = number
        return false
    }

    /// Takes note of a sample, handed on or not.
    mutating func see(_ sample: MediaSample) {
        seen[sample.trackID, default: 0] += 1
        guard firstPTS[sample.trackID] == nil else { return }
        firstPTS[sample.trackID] = sample.pts
        guard firstTrack == nil, let track = selection.track(id: sample.trackID),
            track.mediaType == .video || track.mediaType == .audio
        else { return }
        firstTrack = track
    }

    /// Nobody takes pictures or sound of the segment: nothing of it is placed by its own times.
    var presentsNothing: Bool { !selection.tracks.isEmpty && selection.presentedCount == 0 }

    /// The item time of metadata beside media that nobody takes: as far behind the start of the segment, by the playlist, as it
    /// lies behind the segment's first sample. nil where that has not come.
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

    /// Puts a sample right whose time cannot be, on its way to an item time. True for the first of such samples.
    mutating func repair(_ sample: inout MediaSample, of track: MediaTrack, offset: Duration) -> Bool {
        let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
        let before = repairs[track.id]?.correction ?? .zero
        let known = repairs.values.map(\.correction).filter { $0 != .zero }
        let lead = ItemTimeline.duration(
            sample.pts.subtractingReportingOverflow(sample.dts).partialValue, track.timescale)
        let correction = repairs[track.id, default: TimestampRepair()].correction(
            at: time, decodedAt: abs(lead) <= TimestampRepair.margin ? time - lead : time,
            duration: ItemTimeline.duration(max(0, sample.duration), track.timescale),
            limit: job.duration + TimestampRepair.margin, known: known)
        guard correction != .zero else { return false }
        let delay = ItemTimeline.duration(
            sample.pts.subtractingReportingOverflow(sample.dts).partialValue, track.timescale)
        sample.pts = ItemTimeline.ticks(time + correction - offset, track.timescale)
        // Where one of the two is damaged, they are far apart.
        sample.dts =
            abs(delay) <= TimestampRepair.margin
            ? sample.pts - ItemTimeline.ticks(delay, track.timescale) : sample.pts
        return before == .zero
    }

    /// Keeps a tag or an event until the timeline is known that it is placed on.
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

    /// Takes note of a sample that was handed on.
    mutating func note(_ sample: MediaSample, of track: MediaTrack, offset: Duration) {
        guard let shown = ShownMedia(track.shownRange).extent(of: sample) else { return }
        let time = ItemTimeline.duration(shown.pts, track.timescale) + offset
        let length = ItemTimeline.duration(shown.duration, track.timescale)
        extents[track.id, default: TrackExtent(first: time)].note(time, length)
    }

    /// Where the media of each kind ends.
    var ends: [MediaKind: Duration] {
        selection.selected.compactMapValues { extents[$0.id]?.end }.filter { $0.key == .video || $0.key == .audio }
    }

    /// Up to where all tracks have media.
    var demuxedUpTo: Duration? {
        guard !extents.isEmpty, extents.count >= selection.presentedCount else {
            return nil
        }
        return extents.values.map(\.latest).min()
    }

    /// The media's real range on the item's timeline; the playlist's where there is none of interest in it.
    var range: (start: Duration, end: Duration) {
        guard let start = extents.values.map(\.earliest).min(), let end = extents.values.map(\.end).min() else {
            return (job.start, job.start + job.duration)
        }
        return (beganLate ? min(start, job.start) : start, max(start, end))
    }
}

/// Closed captions of a sample of a track of their own.
struct HeldCaptions: Sendable {
    /// On the clock of the track.
    var time: Duration
    var duration: Duration
    var data: ClosedCaptionData
}
