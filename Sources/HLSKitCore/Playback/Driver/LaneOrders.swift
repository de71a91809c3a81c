import HLSMedia

/// The driver's side of the lanes: gives out their work in order, and knows which reports are of media that was forgotten
/// since.
struct LaneOrders {
    private let worker: SerialWorker<DemuxLanes, LaneWork, LaneReport>
    private var lastNumber = 0
    /// The work with which all media was forgotten last, and that of a lane.
    private var lastFlush = 0
    private var lastClose: [LaneID: Int] = [:]
    /// The lanes that are there, and those of them that a segment was begun in.
    private(set) var open: Set<LaneID> = []
    private var begun: Set<LaneID> = []

    /// - Parameter deliver: gets reports of work that is done later, in order.
    init(
        _ configuration: DriverConfiguration, on queue: WorkQueue?, deliver: @escaping @Sendable (LaneReport) -> Void
    ) {
        let lanes = DemuxLanes(
            mode: configuration.demuxes ? .demux : .discard, mediaOrigin: configuration.mediaOrigin)
        worker = SerialWorker(lanes, on: queue, deliver: deliver) { lanes, work in lanes.perform(work) }
    }

    func hasBegun(_ lane: LaneID) -> Bool { begun.contains(lane) }

    /// Has a lane do something.
    ///
    /// - Parameters:
    ///   - opening: how the lane begins, where it is not there; nil leaves it at that.
    ///   - event: goes to the engine before what comes of it.
    ///   - url: of the transfer that ends with it.
    ///   - effect: carried out behind what comes of it.
    /// - Returns: the report, where it is done already.
    mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, opening: LaneOpening? = nil, event: EngineEvent? = nil,
        url: String? = nil, effect: EngineEffect? = nil, surroundings: LaneWork.Surroundings?
    ) -> LaneReport? {
        lastNumber += 1
        if opening != nil { open.insert(lane) }
        switch action {
        case .begin, .restart: begun.insert(lane)
        case .flush: lastFlush = lastNumber
        case .close:
            lastClose[lane] = lastNumber
            open.remove(lane)
            begun.remove(lane)
        default: break
        }
        return worker.perform(
            LaneWork(
                number: lastNumber, lane: lane, opening: opening, action: action, event: event, url: url,
                effect: effect, surroundings: surroundings))
    }

    /// Takes from a report what was forgotten while the work was done: its media with all that is known of it, and what was
    /// to be done with media.
    func current(_ report: LaneReport) -> LaneReport {
        let isClosed = report.number < lastClose[report.lane] ?? 0
        guard isClosed || report.number < lastFlush else { return report }
        var report = report
        report.isStale = true
        report.output.removeAll { !$0.isLasting }
        switch report.effect {
        // Of all lanes media is gone, but the end of one is still its end.
        case .endLane, .reopenLane: if isClosed { report.effect = nil }
        default: report.effect = nil
        }
        return report
    }

    func close() async { await worker.close() }
}

extension LaneOutput {
    /// Told once, and true of the item as a whole.
    fileprivate var isLasting: Bool {
        switch self {
        case .leftOut, .note: true
        default: false
        }
    }
}
