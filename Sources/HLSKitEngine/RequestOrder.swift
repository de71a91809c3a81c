import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// One resource that is to be asked for: what for, and how much of it is taken at most.
struct RequestOrder: Sendable {
    let purpose: RequestPurpose
    let url: String
    /// URL of the playlist that named it; nil where the user did.
    let namedBy: String?
    let byteRange: Range<UInt64>?
    let maximumByteCount: Int
    /// A newer state is asked for of a playlist that is known.
    private(set) var isReload = false
    /// For a media playlist: the URL that is asked in its place; nil for its own.
    private(set) var answeredURL: String?
    /// For a media playlist: those of the multivariant playlist.
    private(set) var variables: [String: String]?
    /// For a head: what it is encrypted with.
    var key: SegmentKey?
    /// For a media playlist: what is asked for besides it.
    var directives = DeliveryDirectives()
    /// For a media playlist and a hint: how long the server may hold the request; nil where it may not.
    var heldFor: Duration?
    /// The body that is continued, for a hint.
    var body: RequestID?
    /// For a key.
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

    /// The playlist whose URL the program gave, or that of an asset of an interstitial, which `namedBy` has named.
    init(firstPlaylist url: String, namedBy: String? = nil) {
        self.init(.firstPlaylist, url: url, namedBy: namedBy, maximumByteCount: ResourceLimits.playlistByteCount)
    }

    /// The media playlist of a lane.
    init(playlistOf lane: borrowing MediaLane, in multivariant: MultivariantPlaylist?, at base: String?) {
        self.init(
            .mediaPlaylist(lane.id), url: lane.playlistURL, namedBy: base,
            maximumByteCount: ResourceLimits.playlistByteCount)
        isReload = lane.tracker != nil
        answeredURL = lane.playlist.answeredURL
        variables = multivariant?.variables
    }

    /// What a steering server says.
    init(steering url: String, namedBy: String?) {
        self.init(.steering, url: url, namedBy: namedBy, maximumByteCount: SteeringManifest.maximumByteCount)
    }

    /// What an interstitial plays.
    init(assetListOf id: String, at url: String, namedBy: String?) {
        self.init(.assetList(id), url: url, namedBy: namedBy, maximumByteCount: InterstitialAssetList.maximumByteCount)
    }

    /// A map or a key.
    init(_ resource: ResourceID, for lane: LaneID, namedBy: String?) {
        self.init(
            .resource(resource, lane), url: resource.url, namedBy: namedBy, byteRange: resource.byteRange,
            maximumByteCount: resource.kind == .key
                ? ResourceLimits.keyByteCount : ResourceLimits.initializationSectionByteCount)
    }

    /// The bytes of a segment.
    ///
    /// - Parameter bitRate: what the variant declares; nil where the segment is not the variant's.
    init(_ flight: SegmentInFlight, namedBy: String?, bitRate: Int?) {
        self.init(
            flight.purpose, url: flight.job.url, namedBy: namedBy, byteRange: flight.byteRange,
            maximumByteCount: ResourceLimits.segmentByteCount(duration: flight.job.duration, bitRate: bitRate))
    }

    /// `KEYFORMAT` of a key.
    fileprivate var keyFormat: String? {
        if case .resource(let resource, _) = purpose { resource.keyFormat } else { nil }
    }
}

/// What the requests of an item carry: credentials, the name of the session and limits of time.
struct RequestTerms: Sendable {
    /// How long a reload may take.
    struct Reload: Sendable, Hashable {
        var timeout: Duration
        var hedgeDelay: Duration
    }

    private let fields: [TransportField]
    private let credentialOrigins: Set<URLOrigin>
    private let timeouts: ResourceTimeouts
    private let reload: Reload?

    /// - Parameters:
    ///   - authorization: what the user information of the item's URL says.
    ///   - origins: where the user's credentials may go; nil without an item.
    ///   - sessionID: the name of the item's session.
    ///   - reload: nil before the variant's playlist is here.
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
        // The user's credentials belong to the origin of the URL that the user gave (R59).
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
