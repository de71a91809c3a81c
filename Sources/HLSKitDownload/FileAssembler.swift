import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Muxes a download's media into one file without decoding. Each playlist's media becomes a track on a common timeline.
///
/// Positions are computed as in playback: all tracks use the variant's anchor in each discontinuity sequence, so that
/// audio and video remain in sync.
struct FileAssembler: Sendable {
    private let folder: DownloadFolder
    private let writer: any MediaWriter
    private let samples: (any SampleWriter)?
    /// The window as requested, and in the times of the file.
    private var requested: TimeWindow
    private var window: TimeWindow
    private var skipped: SkippedTime
    private let hidesLeadIn: Bool
    /// Whether more segments may be listed, as in a live stream.
    private var isOpen: Bool
    private var metadata: FileMetadata?
    private(set) var lanes: [Lane] = []
    private var awaitsAudio = false
    private var knownAudio: Set<Int>?
    private let laterAudio: [LateAudio]
    /// The audio tracks that begin after the others and that the file lacks.
    private(set) var lateAudio: [LateAudio] = []
    private var merger = SampleMerger()
    private var timelines: [TimelineKey: Int] = [:]
    private var loaded: Set<String> = []
    /// The writer's track index of each slot.
    private var indices: [Int: Int] = [:]
    private var scales: [Int: Int32] = [:]
    /// The start of the media: the last sync frame at or before the window's start, or `nil` to begin at the stream's
    /// start.
    private var origin: Duration?
    private var hasFrames = false
    private var firstFrame: Duration?
    /// Whether frames from the start on depend on the segment before the first one.
    private(set) var needsEarlierSegment = false
    /// The slots whose samples are no longer skipped.
    private var begun: Set<Int> = []
    private(set) var problems: [Problem] = []
    /// One line for each kind of media that cannot be written, and for an early start.
    private(set) var omitted: [String] = []
    private(set) var end = Duration.zero
    private var pastEnd = FramesPastEnd<(sample: MediaSample, itemTime: Duration)>()
    private var announcedCount = 0
    private var hasVideo = false
    private var readFiles: [ReadFile] = []

    /// - Parameters:
    ///   - isOpen: Whether all segments will be listed by ``list(_:of:isComplete:)``, until ``close()``.
    ///   - entries: The playlists, the variant's first.
    ///   - window: The item times to write.
    ///   - expected: The segments that will be stored, by lane, or `nil` if all are already stored.
    ///   - hidesLeadIn: Whether the file hides media with negative times, as MP4 does with an edit list.
    ///   - audio: The choice of audio tracks inside the variant's segments, if their audio is wanted.
    ///   - laterAudio: The ``lateAudio`` of an earlier attempt, for a file with these tracks.
    init(
        _ folder: DownloadFolder, entries: [DownloadSelection.Entry], window: TimeWindow,
        writer: any MediaWriter, includesText: Bool = false, hidesLeadIn: Bool = false,
        audio: DownloadConfiguration.Choice = .automatic, laterAudio: [LateAudio] = [],
        expected: [String: [DownloadJournal.Segment]]? = nil, isOpen: Bool = false
    ) {
        self.folder = folder
        self.isOpen = isOpen
        self.writer = writer
        samples = WriterCapabilities(writer).samples
        skipped = SkippedTime(
            of: entries.first.map { expected?[$0.lane.id] ?? folder.journal.segments(of: $0.lane.id) } ?? [])
        requested = window
        self.window = skipped.fileWindow(of: window)
        self.laterAudio = laterAudio
        self.hidesLeadIn = hidesLeadIn
        let journal = folder.journal
        metadata = skipped.fileMetadata(of: journal.metadata)
        let preferences = if case .matching(let preferences) = audio { preferences } else { [QualityExpression]() }
        for entry in entries {
            let id: LaneID =
                switch entry.lane.kind {
                case .main: .main
                case .audio: .audio
                case .subtitles: .subtitles
                }
            guard id != .subtitles || includesText else { continue }
            let known = expected?[entry.lane.id] ?? journal.segments(of: entry.lane.id).filter { $0.file != nil }
            var lane = Lane(
                id: id, journalID: entry.lane.id, language: entry.lane.language, label: entry.lane.label,
                videoRange: entry.lane.videoRange.map { VideoRange(rawValue: $0) },
                segments: isOpen ? [] : skipped.fileSegments(of: known, in: self.window),
                pipeline: LanePipeline(lane: id, mode: .demux, wanted: entry.wanted, asksAgain: false))
            lane.isComplete = !isOpen
            if id == .main, entry.wanted.contains(.audio), let preference = preferences.first { lane.want(preference) }
            for type in [MediaKind.video, .audio] where entry.wanted.contains(type) {
                lane.slots[type] = merger.addSlot(isSparse: false)
            }
            if id == .subtitles {
                let slot = merger.addSlot(isSparse: true)
                var track = MediaTrack(
                    id: slot, mediaType: .text, codec: .webVTT, timescale: Self.textTimescale,
                    language: entry.lane.language)
                track.label = lane.label ?? track.label
                merger.add(.track(track, timeline: 0, time: .zero), to: slot)
                lane.textSlot = slot
            }
            lanes.append(lane)
        }
        for preference in preferences.dropFirst() { addAudio { $0.want(preference) } }
        awaitsAudio = audio == .all && lanes.first?.slots[.audio] != nil
        noteTimelines(of: lanes.flatMap(\.segments))
    }

    /// Numbers the timelines in the order of the stream.
    private mutating func noteTimelines(of segments: [DownloadJournal.Segment]) {
        let keys = Set(segments.map(TimelineKey.init)).filter { timelines[$0] == nil }
        for key in keys.sorted(by: { ($0.epoch, $0.discontinuity) < ($1.epoch, $1.discontinuity) }) {
            timelines[key] = timelines.count
        }
    }

    private mutating func addAudio(_ choose: (inout Lane) -> Void) {
        guard let main = lanes.first, main.id == .main, main.slots[.audio] != nil else { return }
        var lane = Lane(audioOf: main, main.segments)
        choose(&lane)
        lane.slots[.audio] = merger.addSlot(isSparse: false)
        lanes.append(lane)
    }

    /// Adds lanes for all audio tracks that can be decoded, in addition to the track that is read with the variant.
    private mutating func addAllAudio() {
        guard awaitsAudio, let main = lanes.first, !main.reported.isEmpty else { return }
        awaitsAudio = false
        knownAudio = Set(main.reported.filter { $0.mediaType == .audio }.map(\.id) + laterAudio.map(\.id))
        let options = AudioTrackOptions(main.reported, canDecode: CodecRegistry.canDecode)
        let first = main.tracks[.audio]?.id ?? options.track(of: options.options.first)?.id
        for option in options.options where option.isPlayable && options.track(of: option)?.id != first {
            addAudio { $0.want(option) }
        }
        for late in laterAudio { add(late, of: main) }
    }

    /// The number of segments after the announcement of a late track in which its first sample is searched.
    private static let longestAnnouncement = 16

    /// Adds a lane for a late track. The file begins with its description, which is read in advance.
    private mutating func add(_ late: LateAudio, of main: Lane) {
        let segments = main.segments.drop { $0.position < late.position }
        for (index, segment) in zip(segments.indices, segments).prefix(Self.longestAnnouncement) {
            let options = AudioTrackOptions(
                read(Lane(audioOf: main, [segment])).reported, canDecode: CodecRegistry.canDecode)
            guard let option = options.options.first(where: { options.track(of: $0)?.id == late.id }) else { continue }
            var probe = Lane(audioOf: main, [segment])
            probe.want(option)
            probe.slots[.audio] = 0
            guard let track = read(probe).tracks[.audio], track.id == late.id else { continue }
            var lane = Lane(audioOf: main, Array(segments[index...]))
            lane.want(option)
            lane.tracks[.audio] = track
            let slot = merger.addSlot(isSparse: false)
            merger.add(.track(track, timeline: 0, time: .zero), to: slot)
            merger.advance(slot, to: .microseconds(segment.start) - Self.margin)
            lane.slots[.audio] = slot
            lanes.append(lane)
            return
        }
        lateAudio.append(late)
    }

    /// Returns a lane after its first segment, without a change of the file.
    private func read(_ lane: Lane) -> Lane {
        var probe = self
        (probe.lanes, probe.loaded) = ([lane], [])
        _ = try? probe.readSegment(of: 0)
        return probe.lanes[0]
    }

    /// Notes audio tracks that appear late, because a file has only the tracks that it begins with.
    private mutating func noteLateAudio(_ tracks: [MediaTrack], in segment: DownloadJournal.Segment) {
        for track in tracks where track.mediaType == .audio && CodecRegistry.canDecode(track.codec) {
            guard knownAudio?.insert(track.id).inserted == true else { continue }
            lateAudio.append(LateAudio(id: track.id, language: track.language, position: segment.position))
        }
    }

    /// The maximum time that a segment's samples begin before it, because of encoder delays and inexact playlists.
    private static let margin = Duration.seconds(2)
    /// The maximum display time of a text that begins after the end of the media.
    private static let longestTextOverhang = Duration.seconds(5)
    /// The maximum display time of a text that begins after the listed media of a live stream.
    private static let longestOpenText = Duration.seconds(30)
    /// Cues have millisecond precision.
    private static let textTimescale: Int32 = 1000

    /// Writes the remaining stored segments and finishes the writer.
    ///
    /// - Parameter progress: Receives the item time that was reached. Throws to end early.
    mutating func finish(_ progress: (Duration) throws -> Void) throws {
        while try step(progress) {}
        for index in lanes.indices {
            try finish(index)
            placeCues(of: index, isEnd: true)
        }
        try write()
        try writer.finish()
        if let start = window.start, !begun.isEmpty, let text = LeadIn.note(start - zero, isHideable: hidesLeadIn) {
            omitted.append(text)
        }
    }

    /// The item time at the start of the file. Media before it is hidden.
    var zero: Duration {
        guard let origin else { return .zero }
        guard hidesLeadIn, let start = window.start, start > origin, start - origin <= LeadIn.longestHidden else {
            return origin
        }
        return start
    }

    /// Reads the next segment and writes all samples whose order is known.
    ///
    /// - Parameter progress: Receives the item time that was reached. Throws to pause, after which reading can
    ///   continue.
    /// - Returns: `false` if the next segment is not stored, or all have been read.
    mutating func step(_ progress: (Duration) throws -> Void) throws -> Bool {
        try settleLanes()
        guard try announceSlots(progress), let index = nextLane else { return false }
        // The variant's segment may have been listed after the others were read.
        if isOpen, index == 0 { try write() }
        guard try readSegment(of: index) else { return false }
        try progress(.microseconds(lanes[index].nextStart ?? 0))
        // Read the other lanes up to the same time first, because cues may begin before the frames of the segment.
        if nextLane == 0 || lanes[0].isFinished { try write() }
        return true
    }

    var pictureSize: PixelSize? {
        lanes.lazy.compactMap { $0.tracks[.video] }.first { $0.width > 0 && $0.height > 0 }.map {
            PixelSize(width: $0.width, height: $0.height)
        }
    }

    /// Whether there is video, but none of it was written because no sync frame came.
    var lacksVideo: Bool { !hasVideo && lanes.contains { $0.tracks[.video] != nil } }

    mutating func takeReadFiles() -> [ReadFile] {
        defer { readFiles = [] }
        return readFiles
    }

    /// Whether all expected segments were stored, and those that were read have not changed.
    func isComplete(_ journal: DownloadJournal) -> Bool {
        lanes.allSatisfy { lane in
            let all = journal.segments(of: lane.journalID).filter { $0.file != nil }
            let stored = skipped.fileSegments(of: all, in: window)
            guard stored.count == lane.segments.count else { return false }
            return zip(stored, lane.segments).enumerated().allSatisfy { index, pair in
                index < lane.next
                    ? pair.0 == pair.1
                    : pair.0.position == pair.1.position && TimelineKey(pair.0) == TimelineKey(pair.1)
            }
        }
    }

    /// The lane whose next segment is the earliest. If several are, the variant comes first.
    ///
    /// The value is `nil` while another lane may still list an earlier segment.
    private var nextLane: Int? {
        let next = lanes.indices.filter { lanes[$0].nextStart != nil }
            .min { (lanes[$0].nextStart ?? 0, $0) < (lanes[$1].nextStart ?? 0, $1) }
        guard isOpen, let next, let start = lanes[next].nextStart else { return next }
        let isEarly = lanes.indices.contains { isAwaited($0) && (listedEnd(of: $0), $0) < (start, next) }
        return isEarly ? nil : next
    }

    // MARK: Live streams

    /// The time by which a rendition's playlist may be behind the variant's before the file continues without it.
    private static let longestLag: Int64 = 30_000_000

    /// Includes the media before the window that its first frames depend on. Call it before segments are listed.
    mutating func begin(at lead: Duration?) {
        requested.lead = lead
        window = skipped.fileWindow(of: requested)
    }

    /// Adds segments that a playlist lists, in order. Segments that were listed before are ignored.
    ///
    /// - Parameter isComplete: Whether the playlist has ended.
    mutating func list(_ segments: [DownloadJournal.Segment], of journalID: String, isComplete: Bool) {
        guard isOpen else { return }
        if journalID == lanes.first?.journalID {
            for segment in segments where segment.isSkipped { skipped.insert(segment.timeRange) }
            window = skipped.fileWindow(of: requested)
        }
        let segments = skipped.fileSegments(of: segments, in: window)
        for index in lanes.indices where lanes[index].journalID == journalID {
            let last = lanes[index].lastPosition
            let new = segments.filter { segment in last.map { segment.position > $0 } ?? true }
            lanes[index].lastPosition = new.last?.position ?? last
            lanes[index].segments += new
            lanes[index].isComplete = isComplete
        }
        noteTimelines(of: segments)
    }

    /// Removes a segment that will not be stored.
    mutating func remove(_ position: SegmentPosition, of journalID: String) {
        for index in lanes.indices where lanes[index].journalID == journalID {
            let rest = lanes[index].segments[lanes[index].next...].filter { $0.position != position }
            lanes[index].segments.replaceSubrange(lanes[index].next..., with: rest)
        }
    }

    /// Ends the listing. Segments that are not stored are omitted.
    mutating func close() {
        guard isOpen else { return }
        isOpen = false
        for index in lanes.indices {
            lanes[index].isComplete = true
            let rest = lanes[index].segments[lanes[index].next...].filter { folder.stored($0) != nil }
            lanes[index].segments.replaceSubrange(lanes[index].next..., with: rest)
        }
    }

    /// The end of the listed media of a lane, in microseconds.
    private func listedEnd(of index: Int) -> Int64 {
        let first = lanes.compactMap { $0.segments.first?.start }.min() ?? 0
        return lanes[index].segments.last.map { $0.start + $0.duration } ?? first
    }

    /// Whether the lane has no next segment, but may list one soon.
    private func isAwaited(_ index: Int) -> Bool {
        guard isOpen, !lanes[index].isComplete, lanes[index].nextStart == nil else { return false }
        return index == 0 || listedEnd(of: 0) - listedEnd(of: index) <= Self.longestLag
    }

    /// Finishes lanes without further segments, and stops the others from waiting for a lane that is late.
    private mutating func settleLanes() throws(HLSError) {
        for index in lanes.indices where lanes[index].nextStart == nil && !isAwaited(index) {
            if lanes[index].isComplete {
                if lanes[index].next > 0 { try finish(index) }
            } else if let start = lanes[0].nextStart {
                for slot in lanes[index].slots.values { merger.advance(slot, to: .microseconds(start)) }
            }
        }
    }

    // MARK: Reading

    /// Reads each lane up to its first track, so that all initial tracks begin together.
    ///
    /// - Returns: `false` if a segment is not stored yet.
    private mutating func announceSlots(_ progress: (Duration) throws -> Void) throws -> Bool {
        while announcedCount < lanes.count {
            let index = announcedCount
            while lanes[index].textSlot == nil, lanes[index].tracks.isEmpty {
                if isAwaited(index) { return false }
                guard lanes[index].nextStart != nil else { break }
                guard try readSegment(of: index) else { return false }
                try progress(.zero)
            }
            addAllAudio()
            announcedCount += 1
            // Without video, start exactly at the requested time.
            if announcedCount == lanes.count { origin = origin ?? window.start }
        }
        return true
    }

    private mutating func finish(_ index: Int) throws(HLSError) {
        guard !lanes[index].isFinished else { return }
        lanes[index].isFinished = true
        var (output, timeline): ([LaneOutput], ItemTimeline) = ([], lanes[index].timeline)
        lanes[index].pipeline.end(timeline: &timeline, output: &output)
        try take(output, of: index)
        for slot in lanes[index].slots.values { merger.finish(slot) }
        if lanes[index].segments.isEmpty, let slot = lanes[index].textSlot { merger.finish(slot) }
    }

    private mutating func readSegment(of index: Int) throws -> Bool {
        var segment = lanes[index].segments[lanes[index].next]
        if segment.file == nil, var stored = folder.stored(segment) {
            (stored.start, stored.discontinuity) = (segment.start, segment.discontinuity)
            stored.limits = segment.limits
            segment = stored
            lanes[index].segments[lanes[index].next] = segment
        }
        guard let file = segment.file else { return false }
        lanes[index].next += 1
        let key = TimelineKey(segment)
        let timeline = timelines[key] ?? 0
        let id = SegmentID(lane: lanes[index].id, rawValue: lanes[index].next)
        let before = lanes[index].next > 1 ? lanes[index].segments[lanes[index].next - 2] : nil
        let isNew = before.map { $0.variant != segment.variant } ?? true || lanes[index].current != timeline
        var job = SegmentJob(
            id: id, request: RequestID(rawValue: 0), start: .microseconds(segment.start),
            duration: .microseconds(segment.duration), timeline: timeline, window: PresentationWindow(),
            startsNewSequence: isNew, url: file.name, mediaSequence: segment.sequence,
            videoRange: lanes[index].videoRange)
        if let map = segment.map { job.map = try provide(map, .map, to: index) }
        if let key = segment.key { job.key = try self.key(key, for: index) }
        if let key = segment.mapKey, key.method == EncryptionKey.Method.aes128.rawValue {
            job.mapKey = try self.key(key, for: index)
        }
        lanes[index].current = timeline
        lanes[index].currentStart = .microseconds(segment.start) - Self.margin
        lanes[index].pipeline.begin(job)
        lanes[index].pipeline.append(try folder.bytes(of: file.name), to: id)
        let wholeKey = segment.key.flatMap { key in
            key.method == EncryptionKey.Method.aes128.rawValue ? ThinFile.Key(file: key.file, vector: key.bytes) : nil
        }
        let read = ReadFile(
            name: file.name, byteCount: file.byteCount, lane: index, key: wholeKey, end: segment.timeRange.upperBound)
        // Another part of the same segment may follow.
        let follower = lanes[index].segments.dropFirst(lanes[index].next).first
        if follower?.position != segment.position { readFiles.append(read) }
        lanes[index].pipeline.finish(id)
        try runPipelines()
        guard lanes[index].nextStart != nil || !lanes[index].isComplete else {
            try finish(index)
            return true
        }
        // Do not wait for kinds of media that the segment lacks.
        let next = lanes[index].nextStart ?? segment.start + segment.duration
        for slot in lanes[index].slots.values { merger.advance(slot, to: .microseconds(next) - Self.margin) }
        return true
    }

    /// Runs the pipelines. The variant comes first because its anchors place the others.
    private mutating func runPipelines() throws(HLSError) {
        for index in lanes.indices {
            var output: [LaneOutput] = []
            var timeline = lanes[index].timeline
            if index > 0 {
                timeline.takeAnchors(of: lanes[0].timeline)
                let rest = lanes[0].segments[lanes[0].next...]
                // The variant's playlist may still list segments of the same time.
                timeline.comingFromVariant =
                    isOpen && !lanes[0].isComplete && rest.isEmpty
                    ? .unknown : .timelines(Set(rest.map { timelines[TimelineKey($0)] ?? 0 }))
            }
            lanes[index].pipeline.run(timeline: &timeline, output: &output)
            lanes[index].timeline = timeline
            try take(output, of: index)
            placeCues(of: index)
        }
    }

    /// Passes on the cues whose position is known. At the end, the others use their position in the playlist.
    private mutating func placeCues(of index: Int, isEnd: Bool = false) {
        guard let slot = lanes[index].textSlot else { return }
        lanes[index].cues.place(by: lanes[index].timeline, presented: isEnd ? .everything : .nothing)
        let cues = lanes[index].cues.takePlaced().sorted { $0.timeRange.start < $1.timeRange.start }
        for cue in cues where !cue.text.isEmpty {
            guard let start = cue.timeRange.start.duration, let length = cue.timeRange.duration.duration else {
                continue
            }
            let sample = MediaSample(
                trackID: slot, pts: start.wholeMicroseconds / 1000, dts: start.wholeMicroseconds / 1000,
                duration: max(1, length.wholeMicroseconds / 1000), isSync: true, data: SampleData(Array(cue.text.utf8)))
            merger.add(.sample(sample, itemTime: start, time: start), to: slot)
        }
    }

    private mutating func key(_ key: DownloadJournal.Key, for lane: Int) throws -> SegmentKey {
        let resource = try provide(key.file, .key, to: lane)
        return SegmentKey(
            resource: resource, method: EncryptionKey.Method(rawValue: key.method), initializationVector: key.bytes)
    }

    private mutating func provide(_ file: String, _ kind: ResourceID.Kind, to lane: Int) throws -> ResourceID {
        let id = ResourceID(kind: kind, url: file)
        if loaded.insert("\(lane)|\(file)").inserted {
            lanes[lane].pipeline.provide(id, bytes: try folder.bytes(of: file))
        }
        return id
    }

    private mutating func take(_ output: [LaneOutput], of index: Int) throws(HLSError) {
        for element in output {
            switch element {
            case .track(var track, _, _):
                guard let slot = lanes[index].slots[track.mediaType] else { continue }
                if track.mediaType == .audio {
                    track.language = lanes[index].language ?? track.language
                    track.label = lanes[index].label ?? track.label
                }
                lanes[index].tracks[track.mediaType] = track
                merger.add(
                    .track(track, timeline: lanes[index].current, time: lanes[index].currentStart), to: slot)
            case .sample(let sample, let type, let offset):
                guard let slot = lanes[index].slots[type], let track = lanes[index].tracks[type] else { continue }
                let itemTime = ItemTimeline.duration(sample.pts, track.timescale) + offset
                if let limits = lanes[index].limits, !limits.contains(itemTime) { continue }
                let length = ItemTimeline.duration(sample.duration, track.timescale)
                if type == .audio { lanes[index].audioHoles.note(from: itemTime, to: itemTime + length) }
                if type == .video, begun.isEmpty, let start = window.start {
                    if !hasFrames { (hasFrames, needsEarlierSegment) = (true, !sample.isSync) }
                    if sample.isSync, itemTime <= start { (origin, needsEarlierSegment) = (itemTime, false) }
                }
                merger.add(
                    .sample(
                        sample, itemTime: itemTime,
                        time: ItemTimeline.duration(sample.dts, track.timescale) + offset), to: slot)
            case .fact(.segmentFailed(let id, let failure)):
                problems.append(Problem(lanes[index].segments[id.rawValue - 1], failure))
                lanes[index].pipeline.abandon(id)
            case .fact(.tracks(let id, let tracks)):
                lanes[index].reported = tracks
                if index == 0 { noteLateAudio(tracks, in: lanes[0].segments[id.rawValue - 1]) }
                try lanes[index].check(tracks, url: folder.journal.url)
            case .omitted(let error): omitted.append(error.cause)
            case .cues(var batch):
                batch.limits = lanes[index].limits
                lanes[index].cues.add(batch, language: lanes[index].language)
            case .sync, .cut, .closedCaptions, .metadata, .fact, .note, .parameterSets: break
            }
        }
    }

    // MARK: Writing

    private mutating func write() throws {
        // Move the merger out of `self`, because the closure accesses `self`.
        var merger = merger
        self.merger = SampleMerger()
        defer { self.merger = merger }
        try merger.take { output throws(HLSError) in
            switch output {
            case .tracks(let tracks): try begin(tracks)
            case .sample(let sample, let slot, let itemTime): try write(sample, slot, itemTime)
            }
        }
    }

    private mutating func begin(_ tracks: [Int: MediaTrack]) throws(HLSError) {
        let slots = tracks.keys.sorted()
        indices = [:]
        for (index, slot) in slots.enumerated() { indices[slot] = index }
        scales = tracks.mapValues(\.timescale)
        try writer.begin(slots.compactMap { tracks[$0] })
    }

    private mutating func write(_ sample: MediaSample, _ slot: Int, _ itemTime: Duration) throws(HLSError) {
        let delay = sample.pts.subtractingReportingOverflow(sample.dts).partialValue
        guard !window.isOver(at: itemTime - ItemTimeline.duration(delay, scales[slot] ?? 90_000)) else { return }
        if isVideo(slot) {
            if window.isOver(at: itemTime) { return pastEnd.hold((sample, itemTime)) }
            for frame in pastEnd.take() { try put(frame.sample, slot, frame.itemTime) }
        }
        try put(sample, slot, itemTime)
    }

    private mutating func put(_ sample: MediaSample, _ slot: Int, _ itemTime: Duration) throws(HLSError) {
        let scale = scales[slot] ?? 90_000
        let length = ItemTimeline.duration(sample.duration, scale)
        guard let index = indices[slot], begins(slot, sample, itemTime, length) else { return }
        var (sample, time) = (sample, itemTime - zero)
        if lanes.contains(where: { $0.textSlot == slot }) {
            // Limit texts to the file's range. In a live stream, they may belong to segments that have been removed.
            let (begin, last) = (max(itemTime, zero), itemTime + length)
            var finish = min(last, window.end ?? last)
            // Do not let an endless text extend the file.
            if let end = lanes[0].mediaEnd {
                let overhang = lanes[0].isComplete ? Self.longestTextOverhang : Self.longestOpenText
                finish = min(finish, max(end, begin + overhang))
            }
            guard finish > begin else { return }
            time = begin - zero
            sample.duration = max(1, (finish - begin).wholeMicroseconds / 1000)
        }
        if let metadata = metadata.take() { (writer as? Remuxer)?.describe(metadata.part(from: zero)) }
        if isVideo(slot) { hasVideo = true }
        end = max(end, time + ItemTimeline.duration(sample.duration, scale))
        try samples?.write(sample, ofTrackAt: index, at: MediaTime(time))
    }

    private func isVideo(_ slot: Int) -> Bool { lanes.contains { $0.slots[.video] == slot } }

    /// Whether to write a sample. Samples before the start of the file are skipped.
    private mutating func begins(
        _ slot: Int, _ sample: MediaSample, _ itemTime: Duration, _ length: Duration
    ) -> Bool {
        guard let origin else { return true }
        let isVideo = isVideo(slot)
        // Frames that follow the first one but are shown before it may depend on earlier frames.
        if begun.contains(slot) { return !isVideo || firstFrame.map { itemTime >= $0 } ?? true }
        guard isVideo ? sample.isSync && itemTime >= origin : itemTime + length > origin else { return false }
        begun.insert(slot)
        if isVideo { firstFrame = itemTime }
        return true
    }
}
