import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

struct LaneOpening: Sendable {
    var wanted: Set<MediaKind>
    var holdsSegments: Bool
    var audioRule: AudioTrackRule?
}

/// A unit of work for a lane, ordered with all work for the item's lanes.
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
        /// Use this rule for audio tracks in segments that start from now on.
        case choose(AudioTrackRule?)
        /// Continue a rendition that waited for the variant.
        case resume
        /// No further segment follows. `reopen`: another segment follows after all.
        case end
        case reopen
        /// Drop the lane, which opens again with its next segment.
        case close
        case flush

        var opensLane: Bool {
            switch self {
            case .want, .choose, .end, .reopen, .close, .flush: false
            default: true
            }
        }

        /// The largest number of bytes to read if this many bytes have been waiting.
        func byteCount(except unread: Int) -> Int {
            switch self {
            case .append(let bytes, _): bytes.count
            case .appendHead(let bytes, _, _): bytes.count + unread
            case .want, .choose, .end, .reopen, .close, .flush: 0
            case .begin, .restart, .finish, .abandon, .endHead, .provide, .resume: unread
            }
        }
    }

    /// The player state that an audio rendition needs.
    struct Surroundings: Sendable {
        var time: Duration?
        /// Whether media of the variant is used together with the rendition.
        var expectsVariant: Bool
    }

    /// The number of the work, which increases. It identifies the work in reports.
    var number: Int
    var lane: LaneID
    var opening: LaneOpening?
    var action: Action?
    /// The event to pass to the engine before the results, about the transfer of the bytes.
    var event: EngineEvent?
    /// The URL of a transfer that ends with the work.
    var url: String?
    /// The effect to carry out when the results of all earlier work have been handed on.
    var effect: EngineEffect?
    var surroundings: Surroundings?
}

struct LaneReport: Sendable {
    var number: Int
    var lane: LaneID
    var event: EngineEvent?
    var output: [LaneOutput] = []
    var timeline: ItemTimeline
    var unreadByteCount = 0
    var isStale = false
    var wakesAudio = false
    var url: String?
    var effect: EngineEffect?
}
