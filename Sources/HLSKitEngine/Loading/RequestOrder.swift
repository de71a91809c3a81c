import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// A resource to request: its purpose, URL and maximum size.
struct RequestOrder: Sendable {
    let purpose: RequestPurpose
    let url: String
    let namedBy: String?
    let byteRange: Range<UInt64>?
    let maximumByteCount: Int
    /// Whether an update of a known playlist is requested.
    private(set) var isReload = false
    /// For a media playlist: the URL to request instead of the playlist's URL, or `nil`.
    private(set) var answeredURL: String?
    private(set) var variables: [String: String]?
    var key: SegmentKey?
    var directives = DeliveryDirectives()
    /// For a media playlist or a hint: the time for which the server may block the request, or `nil` if it may not.
    var heldFor: Duration?
    var body: RequestID?
    var keyReason = ContentKeyRequest.Reason.needed

    init(
        _ purpose: RequestPurpose, url: String, namedBy: String?, byteRange: Range<UInt64>? = nil,
        maximumByteCount: Int
    ) {
        self.purpose = purpose
        self.url = url
        self.namedBy = namedBy
        self.byteRange = byteRange
        self.maximumByteCount = maximumByteCount
    }

    init(firstPlaylist url: String, namedBy: String? = nil) {
        self.init(.firstPlaylist, url: url, namedBy: namedBy, maximumByteCount: ResourceLimits.playlistByteCount)
    }

    init(playlistOf lane: borrowing MediaLane, in multivariant: MultivariantPlaylist?, at base: String?) {
        self.init(
            .mediaPlaylist(lane.id), url: lane.playlistURL, namedBy: base,
            maximumByteCount: ResourceLimits.playlistByteCount)
        isReload = lane.tracker != nil
        answeredURL = lane.playlist.answeredURL
        variables = multivariant?.variables
    }

    init(steering url: String, namedBy: String?) {
        self.init(.steering, url: url, namedBy: namedBy, maximumByteCount: SteeringManifest.maximumByteCount)
    }

    init(assetListOf id: String, at url: String, namedBy: String?) {
        self.init(.assetList(id), url: url, namedBy: namedBy, maximumByteCount: InterstitialAssetList.maximumByteCount)
    }

    init(_ resource: ResourceID, for lane: LaneID, namedBy: String?) {
        self.init(
            .resource(resource, lane), url: resource.url, namedBy: namedBy, byteRange: resource.byteRange,
            maximumByteCount: resource.kind == .key
                ? ResourceLimits.keyByteCount : ResourceLimits.initializationSectionByteCount)
    }

    /// Creates an order for the bytes of a segment.
    ///
    /// - Parameter bitRate: The variant's declared bit rate, or `nil` if the segment is not part of the variant.
    init(_ flight: SegmentInFlight, namedBy: String?, bitRate: Int?) {
        self.init(
            flight.purpose, url: flight.job.url, namedBy: namedBy, byteRange: flight.byteRange,
            maximumByteCount: ResourceLimits.segmentByteCount(duration: flight.job.duration, bitRate: bitRate))
    }

    fileprivate var keyFormat: String? {
        if case .resource(let resource, _) = purpose { resource.keyFormat } else { nil }
    }
}

extension RequestOrder {
    struct RequestTerms: Sendable {
        struct Reload: Sendable, Hashable {
            var timeout: Duration
            var hedgeDelay: Duration
        }

        private let fields: [TransportField]
        private let credentialOrigins: Set<URLOrigin>
        private let timeouts: ResourceTimeouts
        private let reload: Reload?

        /// - Parameters:
        ///   - origins: The origins to which the user's credentials may be sent, or `nil` without an item.
        ///   - reload: The limits of reloads, or `nil` before the variant's playlist is loaded.
        init(
            _ configuration: EngineConfiguration, authorization: TransportField? = nil, origins: Set<URLOrigin>? = nil,
            sessionID: String? = nil, reload: Reload? = nil
        ) {
            var fields = RequestCredentials.fields(configuration.fields, authorization)
            if configuration.sendsSessionID, let session = sessionID ?? configuration.sessionID {
                fields.append(TransportField(name: "X-Playback-Session-Id", value: session))
            }
            self.fields = fields
            credentialOrigins = origins ?? configuration.credentialOrigins
            timeouts = configuration.timeouts
            self.reload = reload
        }

        func request(for order: RequestOrder) -> EngineRequest {
            var request = TransportRequest(
                urlString: order.directives.url(of: order.answeredURL ?? order.url),
                resourceClass: order.purpose.resourceClass,
                fields: fields, byteRange: order.byteRange,
                timeouts: timeouts[order.purpose.resourceClass], maximumByteCount: order.maximumByteCount)
            // The user's credentials belong to the origin of the URL that the user supplied.
            request.credentialOrigins = credentialOrigins
            if order.isReload, let reload {
                request.timeouts.total = min(request.timeouts.total ?? reload.timeout, reload.timeout)
                request.hedgeDelay = reload.hedgeDelay
            }
            if let hold = order.heldFor { request.hold(for: hold) }
            request.isPreload = order.purpose.isHint
            request.keyFormat = order.keyFormat
            request.keyReason = order.keyReason
            return EngineRequest(
                purpose: order.purpose, transport: request, variables: order.variables,
                directives: order.directives,
                key: order.key, namedBy: order.namedBy)
        }
    }
}
