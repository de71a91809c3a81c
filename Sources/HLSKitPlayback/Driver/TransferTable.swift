import HLSKitEngine
import HLSKitLoading
import HLSKitSelection

/// The requests of an item that are under way: where their bytes go, and the bodies that are needed whole.
struct TransferTable {
    private struct Transfer {
        var task: any TransportTask
        var purpose: RequestPurpose
        /// Of a playlist: those that it imports.
        var variables: [String: String]?
        var directives = DeliveryDirectives()
        /// Of a head.
        var key: SegmentKey?
        var url: String
        var contentType: String?
        /// Of a key or an initialization section.
        var body: [UInt8] = []
    }

    /// What is to be done with bytes that have come.
    enum Piece {
        case segment(SegmentID)
        case head(SegmentID, SegmentKey?)
        case playlist(PlaylistSource)
        /// They are kept until the resource is whole, or listed.
        case kept
    }

    /// What a transfer has brought that has come to its end.
    enum Whole {
        case segment(SegmentID, url: String)
        case head(SegmentID)
        case playlist(PlaylistSource)
        case resource(ResourceID, [UInt8])
        case hint
        case steering([UInt8], url: String)
        case assetList([UInt8], url: String)
    }

    private let transport: any ResourceTransport
    private let policy: ResourcePolicy
    private let urlRefresher: (any URLRefresher)?
    private let userCall: UserCall
    private let inbox: DriverInbox
    private var transfers: [RequestID: Transfer] = [:]
    /// Bodies of preload hints.
    private var preloads = PreloadedBodies()
    /// The question to the program for a fresh URL.
    private var refreshing: Task<Void, Never>?

    init(_ configuration: DriverConfiguration, inbox: DriverInbox) {
        transport = configuration.transport
        policy = configuration.resourcePolicy
        urlRefresher = configuration.urlRefresher
        userCall = configuration.userCall
        self.inbox = inbox
    }

    // MARK: Requests

    mutating func start(_ id: RequestID, _ request: EngineRequest) {
        let inbox = inbox
        do {
            try policy.check(
                request.transport.urlString, resourceClass: request.transport.resourceClass, namedBy: request.namedBy)
        } catch {
            // Not from within the engine's own effects: the refusal is an event of its own.
            inbox.post(.transport(id, .failed(error, TransferMetrics())))
            return
        }
        let task: any TransportTask
        if case .hint = request.purpose {
            preloads.begin(id, continuing: request.body, from: request.transport.byteRange?.lowerBound ?? 0)
            task = transport.start(request.transport) { event in inbox.post(.transport(id, event)) }
        } else if let body = request.body, preloads.has(body) {
            task = PreloadedTask()
            post(preloads.serve(id, from: body, request.transport.byteRange))
        } else {
            task = transport.start(request.transport) { event in inbox.post(.transport(id, event)) }
        }
        transfers[id] = Transfer(
            task: task, purpose: request.purpose, variables: request.variables, directives: request.directives,
            key: request.key, url: request.transport.urlString)
    }

    func suspend(_ id: RequestID) { transfers[id]?.task.pause() }

    func resume(_ id: RequestID) { transfers[id]?.task.resume() }

    mutating func cancel(_ id: RequestID) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        transfer.task.cancel()
        preloads.stopServing(id)
    }

    /// The body of a preload hint is of no more use.
    mutating func forgetBody(_ id: RequestID) { preloads.forget(id) }

    /// What was read from bodies is told like anything that comes.
    private func post(_ events: [PreloadedBodies.Event]) {
        for event in events { inbox.post(.transport(event.request, event.event)) }
    }

    mutating func cancelAll() {
        refreshing?.cancel()
        for transfer in transfers.values { transfer.task.cancel() }
        transfers = [:]
    }

    /// Asks the program for a fresh URL.
    mutating func refresh(_ expired: ExpiredURL) {
        guard let refresher = urlRefresher else { return }
        let (inbox, userCall) = (inbox, userCall)
        refreshing = Task(executorPreference: userCall.executor) {
            do throws(LoadingError) {
                let url = try await userCall.value(
                    of: "the URL refresher", url: expired.itemURLString, within: refresher.deadline
                ) { try await refresher.freshURL(insteadOf: expired) }
                inbox.post(.freshURL(.success(url)))
            } catch {
                inbox.post(.freshURL(.failure(error)))
            }
        }
    }

    // MARK: Answers

    /// Takes a response header. False for a request that was cancelled.
    mutating func take(_ response: TransportResponse, of id: RequestID) -> Bool {
        guard transfers[id] != nil else { return false }
        transfers[id]?.url = response.urlString
        transfers[id]?.contentType = response.contentType
        if case .hint = transfers[id]?.purpose { post(preloads.respond(response, to: id)) }
        return true
    }

    /// Takes bytes of a body. nil for a request that was cancelled.
    mutating func take(_ bytes: [UInt8], of id: RequestID) -> Piece? {
        guard let transfer = transfers[id] else { return nil }
        switch transfer.purpose {
        case .segment(let segment, _): return .segment(segment)
        case .head(let segment): return .head(segment, transfer.key)
        case .firstPlaylist, .mediaPlaylist: return .playlist(Self.source(of: transfer))
        case .resource, .steering, .assetList:
            transfers[id]?.body += bytes
            return .kept
        case .hint:
            post(preloads.append(bytes, of: id))
            return .kept
        }
    }

    /// The body is whole. nil for a request that was cancelled.
    mutating func finish(_ id: RequestID) -> Whole? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        switch transfer.purpose {
        case .segment(let segment, _): return .segment(segment, url: transfer.url)
        case .head(let segment): return .head(segment)
        case .firstPlaylist, .mediaPlaylist: return .playlist(Self.source(of: transfer))
        case .resource(let resource, _): return .resource(resource, transfer.body)
        case .hint:
            post(preloads.finish(id))
            return .hint
        case .steering: return .steering(transfer.body, url: transfer.url)
        case .assetList: return .assetList(transfer.body, url: transfer.url)
        }
    }

    /// Whether an empty body is as good as any other: servers of subtitles that have no cue for a while send nothing.
    func mayBeEmpty(_ id: RequestID) -> Bool {
        transfers[id]?.purpose.segment?.lane == .subtitles
    }

    /// The request has failed. Gives the lane that its bytes went to, where they went to one.
    mutating func fail(_ id: RequestID) -> LaneID? {
        switch transfers.removeValue(forKey: id)?.purpose {
        case .segment(let segment, _), .head(let segment): segment.lane
        case .firstPlaylist, .mediaPlaylist, .resource, .hint, .steering, .assetList, nil: nil
        }
    }

    private static func source(of transfer: Transfer) -> PlaylistSource {
        PlaylistSource(
            url: transfer.directives.url(answering: transfer.url), contentType: transfer.contentType,
            variables: transfer.variables, known: transfer.directives.delta?.known)
    }
}
