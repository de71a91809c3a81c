package import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// The history of one session of an item: its access log, error log and metrics.
///
/// It reads the events and effects of an engine and does not change them.
package struct SessionLogger: Sendable {
    static let maximumErrorCount = 1000

    struct View {
        var now: Duration
        var playhead: Duration
        /// The duration of played media.
        var watched: Duration
        var isExpensive: Bool
        var isLive: Bool
        var itemURL: String
        var error: HLSError?
        var variant: AssetVariant?
        var loadedTimeRanges: [MediaTimeRange]
        var throughput: Double?
        var latency = LatencyMean()
        var playlistURLs: [LaneID: String]
        var isTrickPlay = false
        var pathway: String?
    }

    var session: ItemSession
    let epoch: PlaylistDate
    private(set) var access: AccessLogBuilder
    private(set) var errors: [ErrorLogEvent] = []
    private var requests = SmallMap<RequestID, OpenRequest>()
    private var segments = SmallMap<SegmentID, MetricSegment>()
    /// The time at which the item became current or was set, and whether it is the player's current item.
    private var began: Duration
    private var isCurrent: Bool
    private var isReady = false
    private var rate = 0.0
    private var renditions: [LaneID: String] = [:]
    private var pendingSwitch: (from: AssetVariant?, to: AssetVariant)?
    /// The variant whose segments are requested.
    private var variant: AssetVariant?
    private var switchBitrate: Double?
    private var isSeekInBuffer = false
    /// The time since which the session waits until playback is likely to keep up.
    private var waitsSince: Duration
    private var stalledSince: Duration?
    private var causes: Causes? = Causes()
    private var summary = Totals()
    private var variants: [AssetVariant.ID: AssetVariant] = [:]
    private(set) var isSummarized = false
    private var entries: [DiaryEntry] = []
    private var events: [PlayerEvent.Kind] = []

    private struct OpenRequest {
        var request: MetricRequest
        var resourceClass: ResourceClass
        var lane: LaneID?
        var segmentID: SegmentID?
        var isReload = false
        var variants: [AssetVariant] = []
        var segment: MetricSegment?
        var fields: [TransportField] = []
    }

    /// The requests until playback was first likely to keep up.
    private struct Causes {
        var playlists: [MetricHLSPlaylistRequestEvent] = []
        var segments: [MetricHLSMediaSegmentRequestEvent] = []
        var keys: [MetricContentKeyRequestEvent] = []
    }

    private struct Totals {
        var stallCount = 0
        var stallDuration = Duration.zero
        var switchCount = 0
        var recoverableErrorCount = 0
        var playlistRequestCount = 0
        var segmentRequestCount = 0
        var keyRequestCount = 0
        /// The media time with a declared bit rate, and its products with the bit rates.
        var declaredDuration = 0.0
        var averageBits = 0.0
        var peakBits = 0.0
        var error: String?
    }

    /// - Parameter isCurrent: Whether the item is current. It is not while it is prepared during another item.
    init(session: ItemSession, epoch: PlaylistDate, isCurrent: Bool = true, at now: Duration) {
        self.session = session
        self.isCurrent = isCurrent
        self.epoch = epoch
        access = AccessLogBuilder(sessionID: session.id)
        began = now
        waitsSince = now
    }

    // MARK: Reading

    /// - Parameter watched: The total watched duration, or nil for an ended session.
    package func accessLog(watched: Duration? = nil, at now: Duration) -> AccessLog {
        access.log(since: epoch, watched: watched, at: now)
    }
    package var errorLog: ErrorLog { ErrorLog(events: errors) }

    mutating func takeEffects() -> [EngineEffect] {
        defer {
            entries = []
            events = []
        }
        var effects: [EngineEffect] = events.map { .publish($0) }
        if let diary = session.diary { effects += entries.map { .diary(diary, $0) } }
        return effects
    }

    // MARK: Looking

    /// Counts bytes that arrived without any effect.
    mutating func received(_ byteCount: Int, of id: RequestID) {
        access.received(byteCount, of: id)
        requests[id]?.request.byteCount += byteCount
    }

    mutating func look(at event: EngineEvent?, _ effects: [EngineEffect], _ view: View) {
        access.noteWatched(view.watched)
        access.noteLatency(view.latency)
        if let event { lookBefore(event, effects, view) }
        for effect in effects { look(at: effect, view) }
        lookAfter(event, effects, view)
        noteRenditions(view)
    }

    /// Notes the watched duration before an event that ends the count.
    mutating func noteWatched(_ total: Duration) { access.noteWatched(total) }

    private mutating func lookBefore(_ event: EngineEvent, _ effects: [EngineEffect], _ view: View) {
        switch event {
        case .progress(let id, let byteCount): received(byteCount, of: id)
        case .responded(let id, let response):
            access.responded(
                id, from: response.serverAddress, isFromCache: response.wasReadFromCache, at: view.now)
            requests[id]?.request.responseStartTime = view.now
            requests[id]?.request.serverAddress = response.serverAddress
            requests[id]?.request.statusCode = response.status
            requests[id]?.request.wasReadFromCache = response.wasReadFromCache
            requests[id]?.fields = response.fields
            requests[id]?.request.serverNote = CMSDRecord(response.fields)
        case .finished(let id, let metrics): end(id, error: nil, metrics, view)
        case .playlist(let id, .success(let loaded), let metrics):
            // The first playlist is requested as a multivariant playlist, but may be a media playlist.
            switch loaded.playlist {
            case .media: requests[id]?.resourceClass = .mediaPlaylist
            case .multivariant(let playlist): requests[id]?.variants = AssetVariant.list(of: playlist)
            }
            let loads = effects.lazy.compactMap {
                if case .publish(.playlistLoaded(let load)) = $0 { load } else { nil }
            }
            requests[id]?.isReload = loads.first?.isReload ?? false
            end(id, error: nil, metrics, view)
        case .playlist(let id, .failure(let failure), let metrics): end(id, error: failure.text, metrics, view)
        case .steering(let id, _, _, let metrics), .assetList(let id, _, _, let metrics):
            end(id, error: nil, metrics, view)
        case .failed(let id, let error, let metrics):
            if requests[id] != nil { log(error, of: requests[id], view) }
            if let address = error.serverAddress { requests[id]?.request.serverAddress = address }
            if let status = error.status { requests[id]?.request.statusCode = status }
            end(id, error: error.text, metrics, view)
        case .media(.tracks(let segment, let tracks)) where segment.lane == .main:
            let types = Set(tracks.map(\.mediaType))
            let content: AccessLogBuilder.AccessPeriod.Content =
                types.contains(.video) ? .video : types.contains(.audio) ? .audio : .unknown
            access.change { $0.content = content }
        default: break
        }
    }

    private mutating func lookAfter(_ event: EngineEvent?, _ effects: [EngineEffect], _ view: View) {
        // A failed request is already in the log, with more detail than the errors that follow from it.
        if case .failed? = event { return }
        for case .publish(let kind) in effects {
            switch kind {
            case .recoverableError(let error): log(error, view)
            case .segmentsMissed(let missed): log(missed, view)
            case .itemStatusChanged(.failed):
                if let error = view.error { log(error, view) }
            default: break
            }
        }
    }

    private mutating func look(at effect: EngineEffect, _ view: View) {
        switch effect {
        case .request(let id, let request): begin(id, request, view)
        case .cancel(let id):
            access.ended(id, isWhole: false, at: view.now)
            requests[id] = nil
        case .suspend(let id): access.suspended(id, true, at: view.now)
        case .resume(let id): access.suspended(id, false, at: view.now)
        case .beginSegment(let job), .restartSegment(_, let job): segments[job.id] = MetricSegment(job)
        case .abandonSegment(let segment): segments[segment] = nil
        case .setTimebase(let state): note(state, view)
        case .seekEnded(finished: true):
            emit(MetricPlayerItemSeekDidCompleteEvent(context: context(view), didSeekInBuffer: isSeekInBuffer))
            if !access.isEmpty { open(view) }
        case .present: noteTurn(at: view.now)
        case .itemEnded: summarize(view)
        case .publish(let kind): look(at: kind, view)
        default: break
        }
    }

    private mutating func look(at kind: PlayerEvent.Kind, _ view: View) {
        switch kind {
        case .itemStatusChanged(.readyToPlay):
            isReady = true
            if isCurrent { noteStartup(view.now - began) }
        case .itemStatusChanged(.failed): summary.error = view.error?.description
        case .variantSwitched(let from, let to, let explanation):
            endSwitch(didSucceed: false, view)
            if from != nil { summary.switchCount += 1 }
            pendingSwitch = (from, to)
            variant = to
            variants[to.id] = to
            switchBitrate = from == nil ? nil : view.throughput
            emit(
                MetricPlayerItemVariantSwitchStartEvent(
                    context: context(view), fromVariant: from, toVariant: to, loadedTimeRanges: view.loadedTimeRanges,
                    explanation: explanation))
        case .segmentLoaded(let load): weigh(load)
        case .playbackLikelyToKeepUpChanged(let isLikely): noteKeepUp(isLikely, view)
        case .playbackStalled:
            access.change { $0.numberOfStalls += 1 }
            summary.stallCount += 1
            stalledSince = view.now
            waitsSince = view.now
            emit(MetricPlayerItemStallEvent(context: context(view), variant: view.variant))
        case .recoverableError: summary.recoverableErrorCount += 1
        default: break
        }
    }

    private mutating func noteTurn(at now: Duration) {
        guard !isCurrent else { return }
        isCurrent = true
        began = now
        if isReady { noteStartup(.zero) }
    }

    private mutating func noteStartup(_ time: Duration) { access.change { $0.startupTime = time } }

    /// Notes a seek that was not refused.
    mutating func noteSeek(isInBuffer: Bool, _ view: View) {
        isSeekInBuffer = isInBuffer
        waitsSince = view.now
        emit(MetricPlayerItemSeekEvent(context: context(view)))
    }

    // MARK: Requests

    private mutating func begin(_ id: RequestID, _ request: EngineRequest, _ view: View) {
        let transport = request.transport
        var open = OpenRequest(
            request: MetricRequest(url: transport.urlString, requestStartTime: view.now, responseEndTime: view.now),
            resourceClass: transport.resourceClass)
        switch request.purpose {
        case .segment(let segment, _):
            open.lane = segment.lane
            openIfNeeded(for: segment.lane, transport.urlString, view)
            open.segmentID = segment
            open.segment = segments[segment]
            if segment.lane == .main, !view.isTrickPlay {
                open.segment?.variantID = variant?.id
                open.segment?.variantIndex = variant?.index
            }
            access.requested(id, segment: segment, mediaDuration: open.segment?.duration ?? .zero, at: view.now)
            if view.isExpensive, segment.lane != .subtitles { access.change { $0.mediaRequestsExpensive += 1 } }
        case .head,
            .resource where transport.resourceClass == .initializationSection:
            openIfNeeded(for: nil, transport.urlString, view)
            access.requested(id, segment: nil, mediaDuration: .zero, at: view.now)
        case .firstPlaylist, .mediaPlaylist, .resource, .steering, .assetList: break
        // Listed media is counted by its own requests.
        case .hint: return access.requestedHint(id, at: view.now)
        }
        if request.body != nil { access.servedFromHint(id, at: view.now) }
        requests[id] = open
    }

    /// The first media and a new media playlist of the variant each begin a period.
    private mutating func openIfNeeded(for lane: LaneID?, _ url: String, _ view: View) {
        let uri = view.playlistURLs[.main]
        guard access.isEmpty || lane == .main && access.uri != uri else { return }
        open(view)
        if url == view.itemURL { access.change { $0.playbackType = "FILE" } }
    }

    private mutating func open(_ view: View) {
        let bitrate = switchBitrate
        switchBitrate = nil
        access.open(
            uri: view.playlistURLs[.main], playhead: view.playhead,
            { period in
                period.variant = view.variant
                period.switchBitrate = bitrate
                period.pathway = view.pathway
                period.playbackType = view.isLive ? "LIVE" : "VOD"
            }, at: view.now)
        events.append(.newAccessLogEntry)
    }

    private mutating func end(_ id: RequestID, error: String?, _ metrics: TransferMetrics?, _ view: View) {
        access.ended(id, isWhole: error == nil, at: view.now)
        guard var open = requests.removeValue(forKey: id) else { return }
        // A failed segment is requested again or abandoned.
        if error == nil, let segment = open.segmentID { segments[segment] = nil }
        open.request.responseEndTime = view.now
        open.request.error = error
        open.request.transfer = metrics
        let context = context(view)
        switch open.resourceClass {
        case .multivariantPlaylist, .mediaPlaylist:
            summary.playlistRequestCount += 1
            var event = MetricHLSPlaylistRequestEvent(
                context: context, request: open.request,
                isMultivariantPlaylist: open.resourceClass == .multivariantPlaylist, isReload: open.isReload)
            event.variants = open.variants
            causes?.playlists.append(event)
            emit(event)
        case .segment, .initializationSection:
            summary.segmentRequestCount += 1
            let event = MetricHLSMediaSegmentRequestEvent(
                context: context, request: open.request, isMapSegment: open.resourceClass == .initializationSection,
                segment: open.segment)
            causes?.segments.append(event)
            emit(event)
            // Media of the variant has arrived, regardless of later decisions about it.
            if error == nil, let variant = open.segment?.variantID, variant == pendingSwitch?.to.id {
                endSwitch(didSucceed: true, view)
            }
        case .key:
            summary.keyRequestCount += 1
            let event = MetricContentKeyRequestEvent(context: context, request: open.request)
            causes?.keys.append(event)
            emit(event)
        case .sessionData, .report, .steering, .assetList: break
        }
    }

    // MARK: Playback

    private mutating func note(_ state: TimebaseState, _ view: View) {
        access.setTimebase(state, at: view.now)
        guard state.rate != rate else { return }
        emit(
            MetricPlayerItemRateChangeEvent(
                context: context(view), rate: state.rate, previousRate: rate, variant: view.variant))
        rate = state.rate
        guard rate != 0, let since = stalledSince else { return }
        summary.stallDuration += view.now - since
        stalledSince = nil
    }

    /// Adds the declared bit rates of a loaded segment.
    private mutating func weigh(_ load: SegmentLoad) {
        guard let variant = load.variantID.flatMap({ variants[$0] }), variant.bandwidth > 0 else { return }
        let seconds = load.mediaDuration.seconds
        summary.declaredDuration += seconds
        summary.averageBits += seconds * Double(variant.averageBandwidth ?? variant.bandwidth)
        summary.peakBits += seconds * Double(variant.bandwidth)
    }

    private mutating func endSwitch(didSucceed: Bool, _ view: View) {
        guard let (from, to) = pendingSwitch else { return }
        pendingSwitch = nil
        emit(
            MetricPlayerItemVariantSwitchEvent(
                context: context(view), fromVariant: from, toVariant: to, didSucceed: didSucceed,
                loadedTimeRanges: view.loadedTimeRanges))
    }

    private mutating func noteKeepUp(_ isLikely: Bool, _ view: View) {
        let context = context(view)
        let time = view.now - waitsSince
        if isLikely, var causes {
            self.causes = nil
            // The available media of segments in flight was needed.
            for id in requests.keys {
                guard var open = requests[id], open.resourceClass == .segment else { continue }
                open.request.responseEndTime = view.now
                causes.segments.append(
                    MetricHLSMediaSegmentRequestEvent(
                        context: context, request: open.request, isMapSegment: false, segment: open.segment))
            }
            emit(
                MetricPlayerItemInitialLikelyToKeepUpEvent(
                    context: context, timeTaken: time, loadedTimeRanges: view.loadedTimeRanges,
                    playlistRequests: causes.playlists, mediaSegmentRequests: causes.segments,
                    contentKeyRequests: causes.keys))
        }
        if !isLikely { waitsSince = view.now }
        emit(
            MetricPlayerItemLikelyToKeepUpEvent(
                context: context, isLikelyToKeepUp: isLikely, timeTaken: time,
                loadedTimeRanges: view.loadedTimeRanges))
    }

    private mutating func noteRenditions(_ view: View) {
        for (lane, type) in [(LaneID.audio, MediaKind.audio), (.subtitles, .text)] {
            let (old, new) = (renditions[lane], view.playlistURLs[lane])
            guard old != new else { continue }
            renditions[lane] = new
            emit(
                MetricMediaRenditionChangeEvent(
                    context: context(view), mediaType: type, fromURI: old.map(Redaction.url),
                    toURI: new.map(Redaction.url)))
        }
    }

    // MARK: Errors

    private mutating func log(_ error: LoadingError, of request: OpenRequest?, _ view: View) {
        var domain = error.status.map { $0 >= 400 } == true ? HLSError.Domain.http : .network
        if [.refused, .badURL].contains(error.code) { domain = .core }
        log(
            ErrorLogEvent(
                date: epoch + view.now,
                uri: Redaction.url(error.url.isEmpty ? request?.request.urlString ?? "" : error.url),
                serverAddress: error.serverAddress ?? request?.request.serverAddress, playbackSessionID: session.id,
                errorStatusCode: error.status, errorDomain: domain, errorComment: error.text,
                allHTTPResponseHeaderFields: error.fields.isEmpty ? request?.fields ?? [] : error.fields))
    }

    private mutating func log(_ error: HLSError, _ view: View) {
        let comment = error.detail.map { "\(error.cause) (\($0))" } ?? error.cause
        log(
            ErrorLogEvent(
                date: epoch + view.now, uri: error.urlString, playbackSessionID: session.id,
                errorStatusCode: error.statusCode, errorDomain: error.domain, errorComment: comment))
    }

    private mutating func log(_ missed: SkippedSegments, _ view: View) {
        let seconds = (missed.mediaDuration.seconds * 10).rounded() / 10
        log(
            ErrorLogEvent(
                date: epoch + view.now, uri: Redaction.url(missed.urlString), playbackSessionID: session.id,
                errorDomain: .playlist,
                errorComment: "segments \(missed.first) to \(missed.last), \(seconds) s, are lost: \(missed.cause)"))
    }

    private mutating func log(_ event: ErrorLogEvent) {
        if errors.count >= Self.maximumErrorCount { errors.removeFirst() }
        errors.append(event)
        events.append(.newErrorLogEntry(event))
    }

    package mutating func noteDroppedFrames(_ total: Int, inPeriodBefore: Bool) {
        access.noteDroppedFrames(total, inPeriodBefore: inPeriodBefore)
    }

    // MARK: The end

    /// Ends the session because the item was replaced or removed.
    mutating func close(_ view: View) {
        for id in requests.keys { access.ended(id, isWhole: false, at: view.now) }
        requests = SmallMap()
        access.noteWatched(view.watched)
        access.noteLatency(view.latency)
        endSwitch(didSucceed: false, view)
        summarize(view)
        access.setTimebase(.stopped, at: view.now)
        let event = self
        entries.append(.closed(event))
    }

    private mutating func summarize(_ view: View) {
        guard !isSummarized else { return }
        isSummarized = true
        if let since = stalledSince { summary.stallDuration += view.now - since }
        stalledSince = nil
        let declared = summary.declaredDuration
        var event =
            MetricPlayerItemPlaybackSummaryEvent(
                context: context(view), error: summary.error, startupTime: access.startupTime,
                stallCount: summary.stallCount, stallDuration: summary.stallDuration,
                variantSwitchCount: summary.switchCount, playbackDuration: access.watchedDuration,
                timeWeightedAverageBitrate: declared > 0 ? summary.averageBits / declared : nil,
                timeWeightedPeakBitrate: declared > 0 ? summary.peakBits / declared : nil,
                recoverableErrorCount: summary.recoverableErrorCount,
                playlistRequestCount: summary.playlistRequestCount,
                mediaSegmentRequestCount: summary.segmentRequestCount, contentKeyRequestCount: summary.keyRequestCount)
        event.meanLiveLatency = view.latency.value
        emit(event)
    }

    private func context(_ view: View) -> MetricContext {
        MetricContext(
            date: epoch + view.now, elapsedTime: view.now, mediaTime: MediaTime(view.playhead), sessionID: session.id)
    }

    private mutating func emit(_ event: some MetricEvent) { entries.append(.metric(event)) }
}
