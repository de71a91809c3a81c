import HLSKitEngine
import HLSKitMedia

/// The driver's side of the lanes: queues their work in order, and detects reports about dropped media.
struct LaneOrders {
    private let worker: SerialWorker<DemuxLanes, LaneWork, LaneReport>
    var demand: MediaDemand
    private var lastNumber = 0
    private var lastTaken = 0
    /// The numbers of the work that last dropped all media, and of the work that last dropped each lane.
    private var lastFlush = 0
    private var lastClose: [LaneID: Int] = [:]
    /// The existing lanes, and those in which a segment has started.
    private var open: Set<LaneID> = []
    private var begun: Set<LaneID> = []
    private var unread: [LaneID: Int] = [:]

    /// - Parameter deliver: Receives the reports of deferred work, in order.
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

    /// Called when outputs change. Returns the kinds of media that an existing lane hands on, and the message for the
    /// engine.
    mutating func followOutputs(
        _ lane: LaneID, _ view: EngineView
    ) -> (wanted: Set<MediaKind>, control: EngineControl?)? {
        open.contains(lane) ? demand.follow(lane, hasBegun: begun.contains(lane), view) : nil
    }

    /// Performs work in a lane, which is opened if it does not exist.
    ///
    /// - Parameters:
    ///   - allowance: The work that may be done at once if all earlier work is reported.
    /// - Returns: The report, if the work is done already.
    mutating func perform(
        _ action: LaneWork.Action?, in lane: LaneID, event: EngineEvent?, url: String?, effect: EngineEffect?,
        _ view: EngineView, time: @autoclosure () -> Duration?, within allowance: inout TurnAllowance
    ) -> LaneReport? {
        let opens = action?.opensLane == true && !open.contains(lane)
        let opening = opens ? demand.open(lane, view) : nil
        let surroundings =
            lane == .audio
            ? LaneWork.Surroundings(time: time(), expectsVariant: demand.expectsVariant(view)) : nil
        let byteCount = action?.byteCount(except: unread[lane] ?? 0) ?? 0
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

    /// Removes outdated parts from a report: media dropped during the work, and effects on that media.
    mutating func current(_ report: LaneReport) -> LaneReport {
        lastTaken = report.number
        unread[report.lane] = report.unreadByteCount
        let isClosed = report.number < lastClose[report.lane] ?? 0
        guard isClosed || report.number < lastFlush else { return report }
        var report = report
        report.isStale = true
        report.output.removeAll { !$0.isLasting }
        switch report.effect {
        // A flush drops media in all lanes, but the end of a lane remains valid.
        case .endLane, .reopenLane: if isClosed { report.effect = nil }
        default: report.effect = nil
        }
        return report
    }

    func close() async { await worker.close() }
}

extension LaneOutput {
    /// Whether the output is reported only once and applies to the whole item.
    fileprivate var isLasting: Bool {
        switch self {
        case .omitted, .note: true
        default: false
        }
    }
}
