package import HLSKitEngine
import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
import HLSKitTime

/// Turns the bytes of a lane's segments into samples on the item's timeline.
///
/// It decrypts the bytes, identifies the container and demuxes it. Segments are read in order, and data for later
/// segments is kept until their turn.
package struct LanePipeline {
    package enum Mode: Sendable { case demux, discard }

    private let lane: LaneID
    private let mode: Mode
    /// The kinds of media that have an output. New kinds start at the next sync sample.
    var wanted: Set<MediaKind> {
        didSet {
            guard wanted != oldValue else { return }
            for index in readers.indices { readers[index].reselect(wanted: wanted(of: readers[index].job)) }
        }
    }
    /// Whether segments are handed on only when complete.
    ///
    /// Samples from different variants cannot be joined within a segment, because the other variant starts with a sync
    /// sample.
    private let holdsSegments: Bool
    private let declared: ContainerProbe.Container?
    /// The rule that selects among several audio tracks, for segments that start from now on.
    package var audioRule: AudioTrackRule?
    private var readers: [SegmentReader] = []
    private var resources = ResourceBodies()
    private var announced = AnnouncedTracks()
    /// The incomplete end of the last segment, for the segment that follows it.
    private var rest: Rest?
    private let asksAgain: Bool
    private var timestampMap: (map: WebVTTTimestampMap, timeline: Int)?
    private var silentTracks: Set<Int> = []
    private var omitted: Set<String> = []
    private(set) var hasBegun = false
    private var parameterSets = ParameterSetKeeper()
    var earliestReplacement = Duration.zero
    private var lastReplacement: Int?

    private struct Rest {
        var rest: TransportStreamRest
        var reader: SegmentReader
        /// Whether a following segment has started with the rest.
        var isTaken = false
    }

    package init(
        lane: LaneID, mode: Mode, wanted: Set<MediaKind>, holdsSegments: Bool = false,
        declared: ContainerProbe.Container? = nil, audioRule: AudioTrackRule? = nil, asksAgain: Bool = true
    ) {
        self.asksAgain = asksAgain
        self.audioRule = audioRule
        self.lane = lane
        // Subtitles are separate from the media, so its declared container does not apply.
        self.declared = lane == .subtitles ? nil : declared
        self.holdsSegments = holdsSegments
        self.mode = mode
        self.wanted = wanted
    }

    // MARK: In

    package mutating func begin(_ job: SegmentJob) {
        hasBegun = true
        readers.append(SegmentReader(job: job, declared: declared, audioRule: audioRule))
    }

    /// Restarts a segment from its first byte. Samples that it has already produced are skipped.
    mutating func restart(_ job: SegmentJob) {
        guard let index = readers.firstIndex(where: { $0.job.id == job.id }) else { return begin(job) }
        readers[index].restart(job)
    }

    package mutating func append(_ bytes: [UInt8], to segment: SegmentID) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }) else { return }
        readers[index].unread.append(bytes)
    }

    package mutating func finish(_ segment: SegmentID) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }) else { return }
        readers[index].isComplete = true
    }

    package mutating func abandon(_ segment: SegmentID) {
        readers.removeAll { $0.job.id == segment }
    }

    package mutating func provide(_ resource: ResourceID, bytes: [UInt8]) {
        resources.provide(resource, bytes)
    }

    /// Adds bytes from the head of the stream, for a segment that cannot be decoded without it.
    mutating func appendHead(_ bytes: [UInt8], of segment: SegmentID, key: SegmentKey?) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }), let stream = readers[index].job.stream,
            readers[index].awaitsHead
        else { return }
        if readers[index].head == nil {
            readers[index].head = StreamHead(
                decryption: key.flatMap { resources.decryption(with: $0) }, of: readers[index].headKind,
                endsWithTables: readers[index].awaitsTables)
        }
        if readers[index].head?.append(bytes, to: &parameterSets, of: stream) ?? true { endHead(of: segment) }
    }

    mutating func endHead(of segment: SegmentID) {
        guard let index = readers.firstIndex(where: { $0.job.id == segment }), readers[index].awaitsHead else { return }
        readers[index].awaitsHead = false
        readers[index].head = nil
        readers[index].isHeadNews = true
        if readers[index].awaitsTables, let stream = readers[index].job.stream { parameterSets.endTables(of: stream) }
    }

    mutating func flush() {
        readers.removeAll()
        rest = nil
        announced.flush()
        // The receiver of this flush may not have seen the last replacement.
        lastReplacement = nil
    }

    var coming: Set<Int> {
        mode == .demux && !wanted.isEmpty ? Set(readers.map(\.job.timeline)) : []
    }

    package mutating func end(timeline: inout ItemTimeline, output: inout [LaneOutput]) {
        if readers.isEmpty { endIdle(timeline: &timeline, output: &output) }
    }

    private mutating func endIdle(timeline: inout ItemTimeline, output: inout [LaneOutput]) {
        guard let rest else { return }
        self.rest = nil
        guard !rest.isTaken else { return }
        var reader = rest.reader
        for event in rest.rest.finish() {
            switch event {
            case .sample(let sample): deliver(sample, &reader, timeline: &timeline, output: &output)
            case .note(let text): output.append(.note(text))
            case .tracks, .eventMessage, .unreadTrack: break
            }
        }
    }

    // MARK: Out

    /// The number of bytes that wait for an earlier segment, a key, an initialization section or the stream's head.
    var unreadByteCount: Int { readers.reduce(0) { $0 + $1.unread.count } }

    package mutating func run(timeline: inout ItemTimeline, output: inout [LaneOutput]) {
        while let first = readers.first {
            var reader = first
            readers[0] = SegmentReader(job: reader.job, declared: declared)  // leaves no second reference to the chunks
            let isDone =
                reader.awaitsSync && mode == .demux
                ? readToSync(&reader, timeline: &timeline, output: &output)
                : read(&reader, timeline: &timeline, output: &output)
            if isDone {
                readers.removeFirst()
            } else {
                readers[0] = reader
                return
            }
        }
    }

    /// Reads a segment whose output waits until it is known whether the segment before it is needed.
    private mutating func readToSync(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) -> Bool {
        var held = reader.heldOutput
        reader.heldOutput = []
        let isDone = read(&reader, timeline: &timeline, output: &held)
        switch reader.beginsInTime(held, isDone: isDone) {
        case nil:
            output += held.filter(\.isNews)
            reader.heldOutput = held.filter { !$0.isNews }
            return false
        case true?:
            reader.awaitsSync = false
            output += held
            return isDone
        case false?:
            output += held.filter(\.isNews)
            output.append(.fact(.earlierSegmentNeeded(reader.job.id)))
            // The engine abandons the segment, and loads it again after the earlier one.
            reader.hasFailed = true
            reader.unread.removeAll()
            rest = nil
            announced.flush()
            return false
        }
    }

    /// Returns `true` when the segment has been read to its end.
    private mutating func read(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) -> Bool {
        guard !reader.hasFailed, !reader.awaitsHead, timeline.mayPlace(reader.job.timeline, of: lane) else {
            return false
        }
        do throws(SegmentFailure) {
            guard try prepare(&reader, timeline: &timeline, output: &output), reader.isComplete || !holdsSegments else {
                return false
            }
            if reader.isHeadNews {
                reader.isHeadNews = false
                output.append(.fact(.headRead(reader.job.id)))
                readTables(&reader, timeline: &timeline, output: &output)
                handle(reader.takeHeld(), &reader, timeline: &timeline, output: &output)
                report(reader, output: &output)
            }
            while !reader.awaitsHead, let chunk = reader.unread.takeFirst() {
                let clear = try reader.decrypt(chunk)
                try consume(clear, &reader, timeline: &timeline, output: &output)
                guard !reader.lacksKey else { throw .noKey }
                report(reader, output: &output)
                awaitTables(&reader, isEnd: false, timeline: &timeline, output: &output)
            }
            guard reader.isComplete, !reader.awaitsHead else { return false }
            if !reader.isDecrypted {
                reader.isDecrypted = true
                let rest = try reader.finishDecrypting()
                try consume(rest, &reader, timeline: &timeline, output: &output)
                awaitTables(&reader, isEnd: true, timeline: &timeline, output: &output)
            }
            guard !reader.awaitsHead else { return false }
            if !reader.isDemuxed {
                reader.isDemuxed = true
                try finish(&reader, timeline: &timeline, output: &output)
            }
            guard !reader.awaitsHead else { return false }
            close(&reader, timeline: &timeline, output: &output)
            return true
        } catch {
            if reader.hasFrame {
                // Ignore the error, because only one frame is needed, and the rest may be truncated.
                let (start, end) = reader.range
                output.append(.fact(.segmentEnded(reader.job.id, start: start, end: end)))
                return true
            }
            fail(&reader, error, output: &output)
            return false
        }
    }

    private func fail(_ reader: inout SegmentReader, _ failure: SegmentFailure, output: inout [LaneOutput]) {
        // The engine decides whether to retry, switch variants or skip the segment.
        reader.hasFailed = true
        reader.unread.removeAll()
        output.append(.fact(.segmentFailed(reader.job.id, failure)))
    }

    private mutating func prepare(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) throws(SegmentFailure) -> Bool {
        if reader.isPrepared { return true }
        guard try resources.prepare(&reader, needsInitialization: mode == .demux) else { return false }
        if let timestampMap, timestampMap.timeline == reader.job.timeline {
            reader.earlierTimestampMap = timestampMap.map
        }
        if let rest, reader.job.follows(rest.reader.job) {
            reader.rest = rest.rest
        } else {
            endIdle(timeline: &timeline, output: &output)
        }
        reader.isPrepared = true
        return true
    }

    private mutating func consume(
        _ bytes: [UInt8], _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) throws(SegmentFailure) {
        guard !bytes.isEmpty else { return }
        var events: [DemuxerEvent] = []
        // Use the events that precede an error.
        defer { handle(events, &reader, timeline: &timeline, output: &output) }
        do {
            guard mode == .demux else { return try reader.check(bytes) }
            if reader.rest != nil { rest?.isTaken = true }
            try reader.demux(bytes, to: &events)
        } catch {
            // If nothing has ever been readable, the key is probably wrong, not the segment.
            if error.code == .unknownContainer, reader.job.key != nil, announced.isEmpty { throw .wrongKey }
            throw .media(error)
        }
    }

    private func report(_ reader: SegmentReader, output: inout [LaneOutput]) {
        if let time = reader.demuxedUpTo { output.append(.fact(.demuxed(reader.job.id, upTo: time))) }
    }

    private mutating func finish(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) throws(SegmentFailure) {
        var events: [DemuxerEvent] = []
        do {
            if mode == .discard {
                try reader.checkEnd()
                _ = takesPlace(
                    from: max(reader.job.start, min(earliestReplacement, reader.job.start + reader.job.duration)),
                    reader, output: &output)
            } else {
                try reader.finishDemuxing(to: &events)
            }
        } catch {
            handle(events, &reader, timeline: &timeline, output: &output)
            events = []
            let end = reader.takesEnd(error, isAllThereIs: !asksAgain)
            guard end.isTaken else { throw .media(error) }
            if end.missing > .zero { output.append(.note("\(reader.job.url): \(error.text)")) }
        }
        handle(events, &reader, timeline: &timeline, output: &output)
        guard !reader.lacksKey else { throw .noKey }
        if mode == .demux, lane != .subtitles, !reader.job.window.isStill, !reader.hasSamples,
            !reader.awaitsHead, reader.job.duration > Self.longestEmptySegment,
            reader.restForNext?.holdsMedia != true
        {
            throw .media(MediaError(code: .malformed, text: "no sample found"))
        }
    }

    /// The longest segment that may contain no sample.
    ///
    /// The end of a shorter one may belong entirely to samples that started before it. A longer segment without samples
    /// is damaged.
    private static let longestEmptySegment = Duration.milliseconds(500)

    private mutating func close(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) {
        placeMetadata(&reader, timeline: timeline, isEnd: true, output: &output)
        if mode == .demux, !reader.job.window.isStill {
            timeline.noteEnd(
                of: lane, timeline: reader.job.timeline, playlistEnd: reader.job.start + reader.job.duration,
                reader.ends)
            silentTracks = reader.silentTracks
        }
        if mode == .demux, reader.selection.tracks.isEmpty { output.append(.fact(.tracks(reader.job.id, []))) }
        if mode == .demux { reportOmitted(of: reader, output: &output) }
        rest = reader.restForNext.map { Rest(rest: $0, reader: reader) }
        if lane == .subtitles { timestampMap = (reader.timestampMap, reader.job.timeline) }
        let (start, end) = reader.range
        if let audioEnd = reader.ends[.audio], audioEnd < reader.job.start + reader.job.duration {
            output.append(.fact(.audioEnded(reader.job.id, at: audioEnd)))
        }
        output.append(.fact(.segmentEnded(reader.job.id, start: start, end: end)))
    }

    private mutating func reportOmitted(of reader: SegmentReader, output: inout [LaneOutput]) {
        for type in [MediaKind.video, .audio] where wanted(of: reader.job).contains(type) {
            guard let name = reader.selection.undecodable(type), omitted.insert(name).inserted else { continue }
            let kind = type == .audio ? "audio" : "video"
            output.append(
                .omitted(HLSError(code: .trackOmitted, cause: "\(kind) omitted: \(name) cannot be decoded")))
        }
    }

    private mutating func handle(
        _ events: [DemuxerEvent], _ reader: inout SegmentReader, timeline: inout ItemTimeline,
        output: inout [LaneOutput]
    ) {
        for (index, event) in events.enumerated() {
            if reader.awaitsHead {
                reader.hold(events[index...])
                break
            }
            switch event {
            case .tracks(let tracks): select(from: tracks, &reader, output: &output)
            case .sample(let sample):
                if awaitsHead(sample, &reader, output: &output) {
                    reader.hold(events[index...index])
                } else {
                    deliver(sample, &reader, timeline: &timeline, output: &output)
                }
            case .note(let text): output.append(.note(text))
            case .unreadTrack(let type, let name): reader.selection.noteUnread(type, name)
            case .eventMessage(let message): if lane != .subtitles { reader.hold(message) }
            }
        }
        placeMetadata(&reader, timeline: timeline, isEnd: false, output: &output)
        if let batch = reader.takeCues() { output.append(.cues(batch)) }
    }

    /// Notes the sample's parameter sets. Returns `true` if the segment must wait for the head of the stream.
    private mutating func awaitsHead(
        _ sample: MediaSample, _ reader: inout SegmentReader, output: inout [LaneOutput]
    ) -> Bool {
        guard sample.isSync, let stream = reader.job.stream, let track = reader.selection.track(id: sample.trackID)
        else {
            return false
        }
        parameterSets.note(sample, of: track, in: stream)
        guard reader.selection.selectedTrack(id: track.id) != nil,
            parameterSets.needsHead(for: sample, of: track, in: stream)
        else { return false }
        reader.awaitsHead = true
        reader.headKind = track.mediaType
        output.append(.fact(.headNeeded(reader.job.id)))
        return true
    }

    private mutating func awaitTables(
        _ reader: inout SegmentReader, isEnd: Bool, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) {
        guard mode == .demux, !reader.awaitsHead, reader.lacksTables(isEnd: isEnd), let stream = reader.job.stream
        else { return }
        reader.awaitsTables = true
        guard parameterSets.tables[stream] == nil else {
            return readTables(&reader, timeline: &timeline, output: &output)
        }
        reader.awaitsHead = true
        output.append(.fact(.headNeeded(reader.job.id)))
    }

    private mutating func readTables(
        _ reader: inout SegmentReader, timeline: inout ItemTimeline, output: inout [LaneOutput]
    ) {
        guard reader.awaitsTables else { return }
        reader.awaitsTables = false
        guard let stream = reader.job.stream, let tables = parameterSets.tables[stream] else { return }
        var events: [DemuxerEvent] = []
        reader.read(tables: tables, to: &events)
        handle(events, &reader, timeline: &timeline, output: &output)
    }

    private func wanted(of job: SegmentJob) -> Set<MediaKind> {
        if job.window.isStill { return wanted.intersection([.video]) }
        return job.kinds.map { wanted.intersection($0) } ?? wanted
    }

    private mutating func select(from tracks: [MediaTrack], _ reader: inout SegmentReader, output: inout [LaneOutput]) {
        reader.selection.select(from: tracks, wanted: wanted(of: reader.job), silent: silentTracks)
        output.append(.fact(.tracks(reader.job.id, tracks)))
    }

    /// The limit for the times of metadata. Later times are invalid.
    private static let farthestMetadata = Duration.seconds(1_000_000_000)

    /// Hands on metadata with a known position. At the end of the segment, its playlist position is used.
    private func placeMetadata(
        _ reader: inout SegmentReader, timeline: ItemTimeline, isEnd: Bool, output: inout [LaneOutput]
    ) {
        placeClosedCaptions(&reader, timeline: timeline, isEnd: isEnd, output: &output)
        guard let first = reader.metadata.first else { return }
        var waiting: [TimedMetadata] = []
        for metadata in reader.metadata {
            let job = reader.job
            var time: Duration?
            if metadata.isFromSegmentStart {
                // The segment's start is known when each of its tracks has started.
                let isKnown = isEnd || reader.demuxedUpTo != nil || reader.presentsNothing
                time = isKnown ? reader.range.start + metadata.time : nil
            } else {
                time =
                    timeline.itemTime(
                        of: metadata.time, wraps: metadata.wraps, in: job.timeline, lane: lane, near: job.start)
                    ?? reader.listedTime(of: metadata)
                if time == nil, isEnd { time = job.start + metadata.time - first.time }
            }
            if let time {
                guard abs(time - job.start) <= Self.farthestMetadata else {
                    output.append(.note("\(job.url): metadata that belongs to another time is skipped"))
                    continue
                }
                output.append(.metadata(metadata, at: time, of: job.id))
            } else {
                waiting.append(metadata)
            }
        }
        reader.metadata = waiting
    }

    private func placeClosedCaptions(
        _ reader: inout SegmentReader, timeline: ItemTimeline, isEnd: Bool, output: inout [LaneOutput]
    ) {
        guard let first = reader.closedCaptions.first else { return }
        let job = reader.job
        guard
            let time = timeline.itemTime(of: first.time, wraps: false, in: job.timeline, lane: lane, near: job.start)
                ?? (isEnd ? job.start : nil)
        else { return }
        for held in reader.closedCaptions {
            output.append(.closedCaptions(held.data, at: time + held.time - first.time, duration: held.duration))
        }
        reader.closedCaptions = []
    }

    private mutating func announce(
        _ track: MediaTrack, offset: Duration, _ reader: inout SegmentReader, output: inout [LaneOutput]
    ) {
        let isFirst = reader.announced.insert(track.mediaType).inserted
        guard let news = announced.take(track, of: reader.job, offset: offset, isFirst: isFirst) else { return }
        output.append(.track(news.track, window: reader.job.window, isNewSequence: news.isNewSequence))
        let sets = parameterSets.sets(for: news.track, in: reader.job.stream)
        if !sets.isEmpty { output.append(.parameterSets(sets, track.mediaType)) }
    }

    /// Starts to replace the loaded media if the replacement is ahead of the playhead.
    ///
    /// Returns `false` for media before that position.
    private mutating func takesPlace(from time: Duration, _ reader: SegmentReader, output: inout [LaneOutput]) -> Bool {
        guard let number = reader.job.replacement, number != lastReplacement else { return true }
        guard time >= earliestReplacement else { return false }
        lastReplacement = number
        output.append(.cut(time))
        output.append(.fact(.replaced(lane, number: number, from: time)))
        return true
    }

    private mutating func deliver(
        _ encrypted: MediaSample, _ reader: inout SegmentReader, timeline: inout ItemTimeline,
        output: inout [LaneOutput]
    ) {
        reader.see(encrypted)
        guard let found = reader.selection.selectedTrack(id: encrypted.trackID), !reader.skipsRepeated(encrypted) else {
            return
        }
        guard !reader.needsKey(for: encrypted, of: found) else { return }
        var sample: MediaSample
        var track: MediaTrack
        do throws(DecryptionError) {
            (sample, track) = try reader.decrypted(encrypted, of: found)
        } catch {
            output.append(.note("\(reader.job.url): a sample is skipped: \(error.text)"))
            return
        }
        if track.awaitsChannels { track = parameterSets.completed(track, in: reader.job.stream) }
        if track.mediaType == .metadata {
            reader.hold(sample, of: track)
            return
        }
        if track.mediaType == .text {
            var notes: [String] = []
            reader.read(sample, of: track, notes: &notes)
            for text in notes { output.append(.note("\(reader.job.url): \(text)")) }
            return
        }
        guard !reader.selection.skipsUntilSync(sample, of: track.mediaType) else { return }
        if reader.job.window.isStill {
            guard !reader.hasFrame else { return }
            reader.hasFrame = true
            sample.isSync = true
        }
        let placement = reader.placement(of: sample, in: track, timeline: &timeline)
        sample.pts = sample.pts.addingReportingOverflow(placement.shift).partialValue
        sample.dts = sample.dts.addingReportingOverflow(placement.shift).partialValue
        if reader.repair(&sample, of: track, offset: placement.offset) {
            output.append(
                .note("\(reader.job.url): times of track \(track.id) jump: continued from the earlier ones"))
        }
        let time = ItemTimeline.duration(sample.pts, track.timescale)
        guard takesPlace(from: time + placement.offset, reader, output: &output) else { return }
        announce(track, offset: placement.offset, &reader, output: &output)
        reader.note(sample, of: track, offset: placement.offset)
        output.append(.sample(sample, track.mediaType, offset: placement.offset))
        guard track.mediaType == .video, sample.isSync else { return }
        output.append(.sync(ItemTimeline.duration(sample.pts, track.timescale) + placement.offset))
    }
}

extension SegmentJob {
    fileprivate func follows(_ other: SegmentJob) -> Bool {
        !startsNewSequence && replacement == other.replacement && timeline == other.timeline && map == other.map
            && (mediaSequence == other.mediaSequence || mediaSequence == other.mediaSequence + 1)
            && abs(start - other.start - other.duration) < .milliseconds(1)
    }
}
