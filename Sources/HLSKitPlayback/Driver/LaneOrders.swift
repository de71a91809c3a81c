import HLSKitEngine
import HLSKitMedia

/// The driver's side of the lanes: gives out their work in order, and knows which reports are of media that was forgotten
/// since.
struct LaneOrders {
    private let worker: SerialWorker<DemuxLanes, LaneWork, LaneReport>
    /// Which kinds of media they hand on.
    var demand: MediaDemand
    private var lastNumber = 0
    /// The work whose report came last.
    private var lastTaken = 0
    /// The work with which all media was forgotten last, and that of a lane.
    private var lastFlush = 0
    private var lastClose: [LaneID: Int] = [:]
    /// The lanes that are there, and those of them that a segment was begun in.
    private var open: Set<LaneID> = []
    private var begun: Set<LaneID> = []
    /// Bytes that lanes have and could not read, as of the last report.
    private var unread: [LaneID: Int] = [:]

    /// - Parameter deliver: gets reports of work that is done later, in order.
    init(
        _ configuration: DriverConfiguration, dispatcher: OutputDispatcher, on queue: WorkQueue?,
        deliver: @escaping @Sendable (LaneReport) -> Void
    ) {
        demand = MediaDemand(configuration, dispatcher: dispatcher)
        let lanes = DemuxLanes(
            mode: configuration.demuxes ? .demux : .discard, declared: configuration.declaredContainer,
            mediaOrigin: configuration.mediaOrigin)
        worker = SerialWorker(lanes, on: queue, deliver: deliver) { lanes, work in lanes.perform(work) }
    }

    /// Outputs came, went or changed what they take. Gives what a lane that is there hands on from now on, and what the
    /// engine has to be told.
    mutating func followOutputs(
        _ lane: LaneID, _ view: EngineView
    ) -> (wanted: Set<MediaKind>, control: EngineControl?)? {
        open.contains(lane) ? demand.follow(lane, hasBegun: begun.contains(lane), view) : nil
    }

    /// Has a lane do something. The lane begins if it is not there.
    ///
    /// - Parameters:
    ///   - event: goes to the engine before what comes of it.
    ///   - url: of the transfer that ends with it.
    ///   - effect: carried out behind what comes of it.
    ///   - time: the item time of now.
    ///   - allowance: what may be done at once, where all that was done before is handed on.
    /// - Returns: the report, where it is done already.
    mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, event: EngineEvent?, url: String?, effect: EngineEffect?,
        _ view: EngineView, time: @autoclosure () -> Duration?, within allowance: inout TurnAllowance
    ) -> LaneReport? {
        let opens = action?.opensLane == true && !open.contains(lane)
        let opening = opens ? demand.open(lane, view) : nil
        let surroundings =
            lane == .audio
            ? LaneWork.Surroundings(time: time(), expectsVariant: demand.expectsVariant(view)) : nil
        let byteCount = action?.byteCount(besides: unread[lane] ?? 0) ?? 0
        let atOnce = lastTaken == lastNumber && allowance.take(byteCount)
        lastNumber += 1
        if opens { open.insert(lane) }
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
                effect: effect, surroundings: surroundings),
            atOnce: atOnce)
    }

    /// Takes from a report what was forgotten while the work was done: its media with all that is known of it, and what was
    /// to be done with media.
    mutating func current(_ report: LaneReport) -> LaneReport {
        lastTaken = report.number
        unread[report.lane] = report.unreadByteCount
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
