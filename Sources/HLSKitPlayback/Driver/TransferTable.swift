import HLSKitEngine
import HLSKitLoading
import HLSKitSelection

/// The current requests of an item: the destination of their bytes, and bodies that are needed as a whole.
struct TransferTable {
    private struct Transfer {
        var task: any TransportTask
        var purpose: RequestPurpose
        /// The imported variables, for a playlist.
        var variables: [String: String]?
        var directives = DeliveryDirectives()
        /// The key, for a stream's head.
        var key: SegmentKey?
        var url: String
        var contentType: String?
        /// The body, for a key or an initialization section.
        var body: [UInt8] = []
    }

    enum Piece {
        case segment(SegmentID)
        case head(SegmentID, SegmentKey?)
        case playlist(PlaylistSource)
        /// The bytes are kept until the resource is complete or listed.
        case kept
    }

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
    private let userCall: AppCall
    private let inbox: DriverInbox
    private var transfers: [RequestID: Transfer] = [:]
    private var preloads = PreloadedBodies()
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
            // Report the refusal as a separate event, because the engine's effects are being carried out.
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

    mutating func forgetBody(_ id: RequestID) { preloads.forget(id) }

    private func post(_ events: [PreloadedBodies.Event]) {
        for event in events { inbox.post(.transport(event.request, event.event)) }
    }

    mutating func cancelAll() {
        refreshing?.cancel()
        for transfer in transfers.values { transfer.task.cancel() }
        transfers = [:]
    }

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

    /// Handles a response header. Returns `false` if the request was cancelled.
    mutating func take(_ response: TransportResponse, of id: RequestID) -> Bool {
        guard transfers[id] != nil else { return false }
        transfers[id]?.url = response.urlString
        transfers[id]?.contentType = response.contentType
        if case .hint = transfers[id]?.purpose { post(preloads.respond(response, to: id)) }
        return true
    }

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

    /// Whether an empty body is valid. Servers of subtitles may send nothing while there is no cue.
    func mayBeEmpty(_ id: RequestID) -> Bool {
        transfers[id]?.purpose.segment?.lane == .subtitles
    }

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
