import HLSMedia

/// The driver's side of the lanes: gives them their work in order, and knows which reports are of media that was
/// forgotten since.
struct LaneOrders {
    private var lanes: DemuxLanes
    private var lastNumber = 0
    /// The lanes that are there, and those of them that a segment was begun in.
    private(set) var open: Set<LaneID> = []
    private var begun: Set<LaneID> = []

    init(_ configuration: DriverConfiguration) {
        lanes = DemuxLanes(
            mode: configuration.demuxes ? .demux : .discard, mediaOrigin: configuration.mediaOrigin)
    }

    func hasBegun(_ lane: LaneID) -> Bool { begun.contains(lane) }

    /// Has a lane do something.
    ///
    /// - Parameters:
    ///   - opening: how the lane begins, where it is not there; nil leaves it at that.
    ///   - event: goes to the engine before what comes of it.
    ///   - effect: carried out behind what comes of it.
    mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, opening: LaneOpening? = nil, event: EngineEvent? = nil,
        effect: EngineEffect? = nil, surroundings: LaneWork.Surroundings?
    ) -> LaneReport {
        lastNumber += 1
        switch action {
        case .begin, .restart: begun.insert(lane)
        case .close:
            open.remove(lane)
            begun.remove(lane)
        default: break
        }
        if opening != nil { open.insert(lane) }
        let work = LaneWork(
            number: lastNumber, lane: lane, opening: opening, action: action, event: event, effect: effect,
            surroundings: surroundings)
        return lanes.perform(work)
    }
}
