import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// How a lane begins.
struct LaneOpening: Sendable {
    /// Kinds of media that are handed on.
    var wanted: Set<MediaKind>
    /// Nothing of a segment is handed on before all of it is there.
    var holdsSegments: Bool
    /// Chooses among several tracks of audio.
    var audioRule: AudioTrackRule?
}

/// One thing to be done with a lane, in order with everything else that is done with the lanes of the item.
struct LaneWork: Sendable {
    enum Action: Sendable {
        case begin(SegmentJob)
        case restart(SegmentJob)
        case append([UInt8], to: SegmentID)
        case appendHead([UInt8], of: SegmentID, key: SegmentKey?)
        case finish(SegmentID)
        case abandon(SegmentID)
        case endHead(SegmentID)
        case provide(ResourceID, [UInt8])
        case want(Set<MediaKind>)
        /// Among several tracks of audio this chooses, in segments that begin from now on.
        case choose(AudioTrackRule?)
        /// A rendition may go on where it waited for the variant.
        case goOn
        /// No further segment comes; then, that one comes after all.
        case end
        case reopen
        /// All of the lane is forgotten: it opens again with what comes next.
        case close
        /// What is loaded in any lane is forgotten.
        case flush

        /// It is done in a new lane, where there is none.
        var opensLane: Bool {
            switch self {
            case .want, .choose, .end, .reopen, .close, .flush: false
            default: true
            }
        }

        /// How many bytes have to be read, at most, where so many have waited.
        func byteCount(besides unread: Int) -> Int {
            switch self {
            case .append(let bytes, _): bytes.count
            case .appendHead(let bytes, _, _): bytes.count + unread
            case .want, .choose, .end, .reopen, .close, .flush: 0
            case .begin, .restart, .finish, .abandon, .endHead, .provide, .goOn: unread
            }
        }
    }

    /// What a rendition of audio has to know of the player.
    struct Surroundings: Sendable {
        /// The item time of now.
        var time: Duration?
        /// Media of the variant is of use beside that of the rendition.
        var expectsVariant: Bool
    }

    /// Counts up: what came of an earlier piece of work is known by it.
    var number: Int
    var lane: LaneID
    /// The lane is new.
    var opening: LaneOpening?
    var action: Action?
    /// Goes to the engine before what comes of the work: news of the transfer that has brought the bytes.
    var event: EngineEvent?
    /// The URL of a transfer that has ended with it.
    var url: String?
    /// What the driver does when what came of all the work before is handed on.
    var effect: EngineEffect?
    var surroundings: Surroundings?
}

/// What came of a piece of work.
struct LaneReport: Sendable {
    var number: Int
    var lane: LaneID
    /// As of the work.
    var event: EngineEvent?
    var output: [LaneOutput] = []
    /// What cues are placed by from now on.
    var timeline: ItemTimeline
    /// Bytes of the lane that the next work may find ready to be read.
    var unreadByteCount = 0
    /// Media of the lane was forgotten while the work was done.
    var isStale = false
    /// Separate audio waited for what has come.
    var wakesAudio = false
    /// As of the work.
    var url: String?
    var effect: EngineEffect?
}
