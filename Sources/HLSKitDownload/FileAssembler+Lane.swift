import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension FileAssembler {
    /// One playlist of the download, and the place in it.
    struct Lane: Sendable {
        let id: LaneID
        let journalID: String
        let language: String?
        let label: MediaTrackLabel?
        let videoRange: VideoRange?
        var segments: [DownloadJournal.Segment]
        /// The position of the last segment that was listed.
        var lastPosition: SegmentPosition?
        var next = 0
        var pipeline: LanePipeline
        var timeline = ItemTimeline()
        var slots: [MediaKind: Int] = [:]
        /// The current tracks, and the number of the current timeline.
        var tracks: [MediaKind: MediaTrack] = [:]
        var current = 0
        var currentStart = Duration.zero
        var isFinished = false
        /// Whether no more segments will be listed.
        var isComplete = true
        var cues = CueSchedule()
        var textSlot: Int?
        var audio: SelectionTerms?
        /// All tracks of the last segment that was read.
        var reported: [MediaTrack] = []
        var audioHoles = AudioHoles()

        /// The end of the last segment, according to the playlist.
        var mediaEnd: Duration? { segments.last.map { .microseconds($0.start + $0.duration) } }
        /// The limits of the segment that was read last.
        var limits: TimeWindow? { next > 0 ? segments[next - 1].limits : nil }
        var nextStart: Int64? { next < segments.count ? segments[next].start : nil }

        mutating func want(_ preference: QualityExpression) {
            let terms = SelectionTerms(preference: preference)
            audio = terms
            pipeline.audioRule = AudioTrackRule(terms)
        }

        mutating func want(_ option: MediaSelectionOption) {
            pipeline.audioRule = AudioTrackRule(SelectionTerms(choice: .option(option.id)))
        }

        func check(_ tracks: [MediaTrack], url: String) throws(HLSError) {
            guard let audio, let group = AudioTrackOptions(tracks, canDecode: CodecRegistry.canDecode).group else {
                return
            }
            do { _ = try audio.option(in: group) } catch { throw error.error(url: url) }
        }
    }

    /// An audio track that begins after the others.
    struct LateAudio: Sendable, Hashable {
        var id: Int
        var language: String?
        /// The first segment that announces it.
        var position: SegmentPosition

        var note: String { "audio omitted: \(language ?? "track \(id)") begins after the others" }
    }
}

extension FileAssembler {
    /// The missing audio of all lanes; each range once, although several lanes may lack it.
    var holes: [Range<Duration>] {
        let all = lanes.flatMap { $0.audioHoles.ranges(in: $0.segments) }.sorted { $0.lowerBound < $1.lowerBound }
        return all.reduce(into: []) { holes, next in
            if holes.last?.overlaps(next) != true { holes.append(next) }
        }
    }
}

extension FileAssembler.Lane {
    /// Creates a lane for another audio track inside the variant's segments.
    init(audioOf main: FileAssembler.Lane, _ segments: [DownloadJournal.Segment]) {
        self.init(
            id: .audio, journalID: main.journalID, language: nil, label: nil, videoRange: nil, segments: segments,
            pipeline: LanePipeline(lane: .audio, mode: .demux, wanted: [.audio], asksAgain: false))
        (isComplete, lastPosition) = (main.isComplete, main.lastPosition)
    }
}
