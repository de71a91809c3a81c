import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// The initial settings of a lane.
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
        case goOn
        /// No further segment follows. `reopen`: another segment follows after all.
        case end
        case reopen
        /// Drop the lane, which opens again with its next segment.
        case close
        /// Drop the media of all lanes.
        case flush

        /// Whether the action opens a lane that does not exist.
        var opensLane: Bool {
            switch self {
            case .want, .choose, .end, .reopen, .close, .flush: false
            default: true
            }
        }

        /// The largest number of bytes to read if this many bytes have been waiting.
        func byteCount(besides unread: Int) -> Int {
            switch self {
            case .append(let bytes, _): bytes.count
            case .appendHead(let bytes, _, _): bytes.count + unread
            case .want, .choose, .end, .reopen, .close, .flush: 0
            case .begin, .restart, .finish, .abandon, .endHead, .provide, .goOn: unread
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

/// The result of a unit of work.
struct LaneReport: Sendable {
    var number: Int
    var lane: LaneID
    /// The event from the work.
    var event: EngineEvent?
    var output: [LaneOutput] = []
    /// The timeline for placing cues from now on.
    var timeline: ItemTimeline
    /// Bytes of the lane that may be ready to read for the next work.
    var unreadByteCount = 0
    /// Whether media of the lane was dropped while the work was done.
    var isStale = false
    /// Whether separate audio waited for the new data.
    var wakesAudio = false
    /// The URL and effect from the work.
    var url: String?
    var effect: EngineEffect?
}
