import HLSKitLoading
import HLSKitPlaylist

/// Keeps the client data of a session that the engine does not store, and detects client data events.
///
/// It reads engine events and effects and does not change them. Sources: CTA-5004, CTA-5004-B.
struct CMCDState: Sendable {
    struct View {
        var now: Duration
        var epoch: PlaylistDate
        var status: TimeControlStatus
        var errorCode: String?
        var isLikelyToKeepUp: Bool
    }

    /// An event, and the index of its target if it is for one of several.
    struct Occurrence: Sendable {
        var event: ClientDataEvent
        var target: Int?
        /// The facts of the ended request, or nil to use current facts.
        var facts: ClientDataNote?
    }

    private struct OpenRequest: Sendable {
        var url: String
        var began: Duration
        var facts: ClientDataNote?
        var firstByte: Duration?
        var firstBodyByte: Duration?
        var status = 0
        var serverData: ServerData?
        var tracing: String?
    }

    let settings: ClientData
    /// The kinds of events that at least one target receives.
    private let wanted: Set<ClientData.Event>
    private var requests = SmallMap<RequestID, OpenRequest>()
    /// The times at which the next interval event of each target is due.
    private var dues: [Duration?] = []
    var armed: Duration?
    private var hasBegun = false

    // Playback.
    /// Whether media is urgent because the buffer has not filled since the start, a seek or a stall.
    private(set) var isUrgent = true
    private var playAsked: Duration?
    private(set) var startDelay: Duration?
    private var hasStarted = false
    private var isSeeking = false
    private var hasEnded = false
    private var stalledSince: Duration?
    private(set) var starvationCount = 0
    private(set) var starvations: [Duration] = []
    private(set) var errors = ClientDataFacts.Errors()
    private(set) var droppedFrameCount: Int?
    private(set) var isBackgrounded: Bool?
    private var reportedState: ClientDataFacts.State?
    private var reportedRate: Float = 1
    private var host: String?
    /// The start of media at each bit rate, in the order of loading.
    private var loadedBitRates: [(start: Duration, bitRate: Double)] = []

    /// The maximum number of starvations, and of bit rate changes ahead, to keep.
    private static let maximumCount = 1000
    /// The server's description of how it served a request (CTA-5010).
    private static let tracingField = "SMRT-Data"

    init(_ settings: ClientData) {
        self.settings = settings
        wanted = settings.eventTargets.reduce(into: Set()) { $0.formUnion($1.events) }
    }

    var reports: Bool { !wanted.isEmpty }

    // MARK: Reading

    func state(_ view: View) -> ClientDataFacts.State {
        if view.errorCode != nil { return .failed }
        if hasEnded { return .ended }
        if isSeeking, hasStarted { return .seeking }
        switch view.status {
        case .playing: return .playing
        case .waitingToPlayAtSpecifiedRate: return hasStarted ? .rebuffering : .starting
        case .paused: return hasStarted ? .paused : .preloading
        }
    }

    func bitRate(at time: Duration) -> Double? {
        loadedBitRates.last { $0.start <= time }?.bitRate ?? loadedBitRates.first?.bitRate
    }

    var nextInterval: Duration? { dues.lazy.compactMap(\.self).min() }

    // MARK: Looking

    mutating func look(at event: EngineEvent?, _ effects: [EngineEffect], _ view: View) -> [Occurrence] {
        var occurrences: [Occurrence] = []
        let wanted = wanted
        func occur(_ kind: ClientData.Event, _ change: (inout ClientDataEvent) -> Void = { _ in }) {
            guard wanted.contains(kind) else { return }
            var event = ClientDataEvent(kind, date: Self.milliseconds(view.epoch + view.now))
            change(&event)
            occurrences.append(Occurrence(event: event))
        }
        if !hasBegun {
            hasBegun = true
            begin(at: view.now)
            if settings.contentID != nil { occur(.contentID) }
        }
        if playAsked == nil, view.status != .paused { playAsked = view.now }
        if let event { look(before: event, view, &occurrences) }
        for effect in effects {
            switch effect {
            case .request(let id, let request):
                if wanted.contains(.responseReceived) {
                    requests[id] = OpenRequest(
                        url: request.transport.urlString, began: view.now, facts: request.transport.clientData)
                }
                if case .segment = request.purpose, wanted.contains(.hostname),
                    let new = URLOrigin(of: request.transport.urlString)?.host, new != host
                {
                    if host != nil { occur(.hostname) { $0.host = new } }
                    host = new
                }
            case .cancel(let id): requests[id] = nil
            case .setTimebase(let state) where state.rate != 0: run(view.now)
            case .seekBegan: beginSeek()
            case .seekEnded: isSeeking = false
            case .publish(let kind): look(at: kind, view, occur)
            default: break
            }
        }
        if view.isLikelyToKeepUp { isUrgent = false }
        let state = state(view)
        if state != reportedState {
            // Preloading is not reported before the app has requested playback.
            if reportedState != nil || state != .preloading { occur(.playState) }
            reportedState = state
        }
        return occurrences
    }

    private mutating func begin(at now: Duration) {
        guard reports else { return }
        dues = settings.eventTargets.map {
            $0.events.contains(.timeInterval) && $0.interval > .zero ? now + max(.seconds(1), $0.interval) : nil
        }
    }

    private mutating func look(before event: EngineEvent, _ view: View, _ occurrences: inout [Occurrence]) {
        switch event {
        case .control(let control): look(at: control, view, &occurrences)
        case .responded(let id, let response):
            guard requests[id] != nil else { return }
            // A cached response is not a response of a server.
            guard !response.wasReadFromCache else {
                requests[id] = nil
                return
            }
            requests[id]?.firstByte = view.now
            requests[id]?.status = response.status
            requests[id]?.serverData = ServerData(response.fields)
            requests[id]?.tracing = response.fields.first { $0.isNamed(Self.tracingField) }?.value
        case .finished(let id, _), .playlist(let id, _, _), .steering(let id, _, _, _):
            end(id, status: nil, view, &occurrences)
        case .failed(let id, let error, _): end(id, status: error.status ?? 0, view, &occurrences)
        case .output(.droppedFrames(let count)): droppedFrameCount = count
        case .timer(.report): fire(view, &occurrences)
        default: break
        }
    }

    private mutating func look(at control: EngineControl, _ view: View, _ occurrences: inout [Occurrence]) {
        switch control {
        case .seek: beginSeek()
        case .report(let notice):
            if case .backgrounded(let isBackgrounded) = notice { self.isBackgrounded = isBackgrounded }
            guard wanted.contains(notice.kind) else { return }
            var event = ClientDataEvent(notice.kind, date: Self.milliseconds(view.epoch + view.now))
            if case .custom(let name) = notice { event.name = name }
            occurrences.append(Occurrence(event: event))
        default: break
        }
    }

    private mutating func look(
        at kind: PlayerEvent.Kind, _ view: View,
        _ occur: (ClientData.Event, (inout ClientDataEvent) -> Void) -> Void
    ) {
        switch kind {
        case .playbackStalled:
            starvationCount += 1
            stalledSince = view.now
            isUrgent = true
        case .didPlayToEnd: hasEnded = true
        case .variantSwitched(let old, _, _): if old != nil { occur(.bitrateChange) { _ in } }
        case .rateChanged(let rate, _):
            guard rate != 0, rate != reportedRate else { return }
            reportedRate = rate
            // In other states, the rate is reported with the next state.
            if state(view) == .playing { occur(.playbackRate) { _ in } }
        case .recoverableError(let error), .failedToPlayToEnd(let error): fail(error.code.rawValue, occur)
        case .itemStatusChanged(.failed): if let code = view.errorCode { fail(code, occur) }
        default: break
        }
    }

    private mutating func fail(
        _ code: String, _ occur: (ClientData.Event, (inout ClientDataEvent) -> Void) -> Void
    ) {
        errors.append(code)
        occur(.error) { $0.errorCode = code }
    }

    mutating func receive(_ id: RequestID, at now: Duration) {
        guard let request = requests[id], request.firstBodyByte == nil else { return }
        requests[id]?.firstBodyByte = now
    }

    private mutating func beginSeek() {
        isSeeking = true
        isUrgent = true
        hasEnded = false
    }

    private mutating func run(_ now: Duration) {
        hasEnded = false
        hasStarted = true
        if startDelay == nil, let asked = playAsked { startDelay = now - asked }
        if let since = stalledSince, starvations.count < Self.maximumCount { starvations.append(now - since) }
        stalledSince = nil
    }

    private mutating func end(_ id: RequestID, status: Int?, _ view: View, _ occurrences: inout [Occurrence]) {
        guard let request = requests.removeValue(forKey: id) else { return }
        var event = ClientDataEvent(.responseReceived, date: Self.milliseconds(view.epoch + request.began))
        event.response = ClientDataEvent.Response(
            url: Redaction.url(request.url), status: status ?? request.status,
            firstByte: request.firstByte.map { $0 - request.began },
            firstBodyByte: request.firstBodyByte.map { $0 - request.began },
            lastByte: status == nil ? view.now - request.began : nil,
            staticData: request.serverData?.staticText, dynamicData: request.serverData?.dynamicText,
            tracing: request.tracing)
        occurrences.append(Occurrence(event: event, facts: request.facts))
    }

    private mutating func fire(_ view: View, _ occurrences: inout [Occurrence]) {
        for (index, due) in dues.enumerated() {
            guard let due, due <= view.now else { continue }
            dues[index] = view.now + max(.seconds(1), settings.eventTargets[index].interval)
            let event = ClientDataEvent(.timeInterval, date: Self.milliseconds(view.epoch + view.now))
            occurrences.append(Occurrence(event: event, target: index))
        }
    }

    /// Notes that variant media is requested from this item time.
    mutating func noteBitRate(_ bitRate: Double?, from start: Duration, playhead: Duration) {
        guard let bitRate else { return }
        // Media loaded after this time is replaced.
        loadedBitRates.removeAll { $0.start >= start }
        if loadedBitRates.last?.bitRate != bitRate { loadedBitRates.append((start, bitRate)) }
        while loadedBitRates.count > 1, loadedBitRates[1].start <= playhead || loadedBitRates.count > Self.maximumCount
        {
            loadedBitRates.removeFirst()
        }
    }

    /// Ends the session and returns the last event if it is needed. An unfinished session ends with `quit`.
    mutating func close(_ view: View) -> Occurrence? {
        let state = reportedState
        requests = SmallMap()
        dues = []
        guard wanted.contains(.playState), let state, ![.ended, .failed, .preloading].contains(state) else {
            return nil
        }
        reportedState = .quit
        return Occurrence(event: ClientDataEvent(.playState, date: Self.milliseconds(view.epoch + view.now)))
    }

    private static func milliseconds(_ date: PlaylistDate) -> Int {
        ClientDataReport.milliseconds(date - PlaylistDate(seconds: 0), toNearest: 1)
    }
}

/// An event with the facts at its time, for reporters. A class, so that it is passed as one reference.
package final class ClientDataOccurrence: Sendable {
    let event: ClientDataEvent
    let facts: ClientDataFacts
    let target: Int?

    init(_ event: ClientDataEvent, _ facts: ClientDataFacts, target: Int?) {
        self.event = event
        self.facts = facts
        self.target = target
    }
}
