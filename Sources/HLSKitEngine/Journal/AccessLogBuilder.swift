import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Builds an access log from events. Times are engine times, and readers supply the date of time zero.
struct AccessLogBuilder: Sendable {
    /// The number of periods above which the oldest two are merged.
    static let maximumPeriodCount = 1000

    let sessionID: String
    private var periods: [AccessPeriod] = []
    private var transfers = SmallMap<RequestID, Transfer>()
    /// The time since which transfers are active but not counted yet.
    private var activeSince: Duration?
    private var isRunning = false
    private(set) var watchedDuration = Duration.zero
    private var latency = LatencyMean()
    private var droppedFrameCount: Int?

    private struct Transfer {
        var began: Duration
        /// The segment, or nil for initialization sections. Subtitles add bytes and time, but no media values.
        var segment: SegmentID?
        var mediaDuration: Duration
        var byteCount = 0
        var isActive = true
        /// Whether the server may hold the request, so its time begins with the response.
        var isHeld = false
        var isOfHint = false
    }

    init(sessionID: String) { self.sessionID = sessionID }

    var isEmpty: Bool { periods.isEmpty }
    var uri: String? { periods.last?.uri }
    var startupTime: Duration? { periods.lazy.compactMap(\.startupTime).first }

    // MARK: Periods

    mutating func open(
        uri: String?, playhead: Duration = .zero, _ change: (inout AccessPeriod) -> Void = { _ in }, at now: Duration
    ) {
        countActivity(at: now)
        var period = AccessPeriod()
        period.uri = uri
        period.serverAddress = periods.last?.serverAddress
        change(&period)
        periods.append(period)
        if isRunning { noteRunning(from: playhead, at: now) }
        guard periods.count > Self.maximumPeriodCount else { return }
        let oldest = periods.removeFirst()
        periods[0].absorb(oldest)
    }

    mutating func change(_ body: (inout AccessPeriod) -> Void) {
        guard !periods.isEmpty else { return }
        body(&periods[periods.count - 1])
    }

    // MARK: Transfers

    mutating func requested(_ id: RequestID, segment: SegmentID?, mediaDuration: Duration, at now: Duration) {
        transfers[id] = Transfer(began: now, segment: segment, mediaDuration: mediaDuration)
        if let segment, segment.lane != .subtitles { change { $0.numberOfMediaRequests += 1 } }
        countActivity(at: now)
    }

    mutating func requestedHint(_ id: RequestID, at now: Duration) {
        transfers[id] = Transfer(began: now, segment: nil, mediaDuration: .zero, isActive: false, isHeld: true)
    }

    /// Notes that a segment is read from a hint, under which its bytes and time are counted.
    mutating func servedFromHint(_ id: RequestID, at now: Duration) {
        transfers[id]?.isOfHint = true
        transfers[id]?.isActive = false
        countActivity(at: now)
    }

    mutating func responded(_ id: RequestID, from address: String?, isFromCache: Bool, at now: Duration) {
        guard transfers[id] != nil else { return }
        if isFromCache {
            transfers[id] = nil
            countActivity(at: now)
        } else if transfers[id]?.isHeld == true {
            transfers[id]?.isHeld = false
            transfers[id]?.isActive = true
            countActivity(at: now)
        }
        guard let address, let known = periods.last?.serverAddress else {
            if let address { change { $0.serverAddress = address } }
            return
        }
        guard address != known else { return }
        change {
            $0.serverAddress = address
            $0.numberOfServerAddressChanges += 1
        }
    }

    mutating func received(_ byteCount: Int, of id: RequestID) {
        guard transfers[id] != nil else { return }
        transfers[id]?.byteCount += byteCount
        if transfers[id]?.isOfHint == false { change { $0.byteCount += byteCount } }
    }

    mutating func suspended(_ id: RequestID, _ isSuspended: Bool, at now: Duration) {
        guard transfers[id] != nil else { return }
        if transfers[id]?.isOfHint == false { transfers[id]?.isActive = !isSuspended }
        countActivity(at: now)
    }

    mutating func ended(_ id: RequestID, isWhole: Bool, at now: Duration) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        countActivity(at: now)
        guard isWhole, let segment = transfer.segment, segment.lane != .subtitles else { return }
        let time = now - transfer.began
        change { period in
            if time > transfer.mediaDuration { period.downloadOverdue += 1 }
            // The network time of hinted media is unknown.
            if time > .zero, !transfer.isOfHint { period.note(bitrate: Double(transfer.byteCount) * 8 / time.seconds) }
            if segment.lane == .main { period.downloadedDuration += transfer.mediaDuration }
            period.media[segment.lane == .main ? 0 : 1].byteCount += transfer.byteCount
            period.media[segment.lane == .main ? 0 : 1].duration += transfer.mediaDuration
        }
    }

    private mutating func countActivity(at now: Duration) {
        let isActive = transfers.keys.contains { transfers[$0]?.isActive == true }
        if let since = activeSince { change { $0.transferDuration += now - since } }
        activeSince = isActive ? now : nil
    }

    // MARK: Time

    /// Notes the total watched duration. The increase belongs to the current period.
    mutating func noteWatched(_ total: Duration) {
        guard total > watchedDuration else { return }
        let new = total - watchedDuration
        change { $0.watched += new }
        watchedDuration = total
    }

    /// Notes the total latency of presented live media. The increase belongs to the current period.
    mutating func noteLatency(_ total: LatencyMean) {
        guard total != latency else { return }
        let known = latency
        change { $0.latency += total - known }
        latency = total
    }

    mutating func setTimebase(_ state: TimebaseState, at now: Duration) {
        isRunning = state.rate != 0
        guard isRunning else { return }
        let start = max(now, state.hostTime)
        noteRunning(from: state.itemTime(at: start), at: start)
    }

    private mutating func noteRunning(from offset: Duration, at now: Duration) {
        change { period in
            guard period.started == nil else { return }
            period.started = now
            period.startOffset = offset
        }
    }

    /// Notes the number of frames dropped since the item was set.
    ///
    /// Frames that are not in any period are added to the current one, or to the previous one if that has just ended.
    mutating func noteDroppedFrames(_ total: Int, inPeriodBefore: Bool) {
        let index = inPeriodBefore && periods.count > 1 ? periods.count - 2 : periods.count - 1
        guard periods.indices.contains(index) else { return }
        let known = periods.reduce(0) { $0 + $1.droppedFrameCount }
        periods[index].droppedFrameCount += max(0, total - known)
        droppedFrameCount = total
    }

    // MARK: Reading

    /// Returns the current log. `watched` is the total watched duration, or nil if it is already noted.
    func log(since epoch: PlaylistDate, watched: Duration? = nil, at now: Duration) -> AccessLog {
        var copy = self
        copy.countActivity(at: now)
        if let watched { copy.noteWatched(watched) }
        return AccessLog(
            events: copy.periods.map { period in
                period.event(sessionID: sessionID, since: epoch, knowsDroppedFrames: droppedFrameCount != nil)
            })
    }
}

extension AccessLogBuilder {
    /// One period of an access log in progress. Unknown values are nil.
    struct AccessPeriod: Sendable {
        struct Media: Sendable {
            var byteCount = 0
            var duration = Duration.zero

            var bitrate: Double? { duration > .zero && byteCount > 0 ? Double(byteCount) * 8 / duration.seconds : nil }
        }

        enum Content: Sendable { case unknown, video, audio }

        var uri: String?
        var serverAddress: String?
        var numberOfServerAddressChanges = 0
        var started: Duration?
        var startOffset: Duration?
        var numberOfMediaRequests = 0
        var mediaRequestsExpensive = 0
        var downloadedDuration = Duration.zero
        var watched = Duration.zero
        var numberOfStalls = 0
        var byteCount = 0
        var transferDuration = Duration.zero
        var variant: AssetVariant?
        /// The media of the variant and of separate audio.
        var media = [Media(), Media()]
        var content = Content.unknown
        var droppedFrameCount = 0
        var startupTime: Duration?
        var downloadOverdue = 0
        var switchBitrate: Double?
        var playbackType: String?
        var latency = LatencyMean()
        var pathway: String?
        // Bit rates of single segments, with mean and squared differences by Welford's method.
        private var bitrateCount = 0
        private var meanBitrate = 0.0
        private var squaredDifferences = 0.0
        private var minBitrate: Double?
        private var maxBitrate: Double?

        mutating func note(bitrate: Double) {
            bitrateCount += 1
            let difference = bitrate - meanBitrate
            meanBitrate += difference / Double(bitrateCount)
            squaredDifferences += difference * (bitrate - meanBitrate)
            minBitrate = min(minBitrate ?? bitrate, bitrate)
            maxBitrate = max(maxBitrate ?? bitrate, bitrate)
        }

        mutating func absorb(_ other: AccessPeriod) {
            numberOfServerAddressChanges += other.numberOfServerAddressChanges
            numberOfMediaRequests += other.numberOfMediaRequests
            mediaRequestsExpensive += other.mediaRequestsExpensive
            downloadedDuration += other.downloadedDuration
            watched += other.watched
            numberOfStalls += other.numberOfStalls
            byteCount += other.byteCount
            transferDuration += other.transferDuration
            droppedFrameCount += other.droppedFrameCount
            downloadOverdue += other.downloadOverdue
            latency += other.latency
            startupTime = other.startupTime ?? startupTime
            started = other.started ?? started
            startOffset = other.startOffset ?? startOffset
        }

        func event(sessionID: String, since epoch: PlaylistDate, knowsDroppedFrames: Bool) -> AccessLogEvent {
            var event = AccessLogEvent()
            event.playbackStartDate = started.map { epoch + $0 }
            event.uri = uri.map(Redaction.url)
            event.serverAddress = serverAddress
            event.numberOfServerAddressChanges = numberOfServerAddressChanges
            event.playbackSessionID = sessionID
            event.numberOfMediaRequests = numberOfMediaRequests
            event.playbackStartOffset = startOffset
            event.segmentsDownloadedDuration = downloadedDuration
            event.durationWatched = watched
            event.numberOfStalls = numberOfStalls
            event.numberOfBytesTransferred = Int64(byteCount)
            event.transferDuration = transferDuration
            if transferDuration > .zero { event.observedBitrate = Double(byteCount) * 8 / transferDuration.seconds }
            event.observedMinBitrate = minBitrate
            event.observedMaxBitrate = maxBitrate
            if bitrateCount > 0 {
                event.observedBitrateStandardDeviation = (squaredDifferences / Double(bitrateCount)).squareRoot()
            }
            if let variant, variant.bandwidth > 0 { event.indicatedBitrate = Double(variant.bandwidth) }
            if let average = variant?.averageBandwidth { event.indicatedAverageBitrate = Double(average) }
            switch content {
            case .unknown: break
            case .video: event.averageVideoBitrate = media[0].bitrate
            case .audio: event.averageAudioBitrate = media[0].bitrate
            }
            if let audio = media[1].bitrate { event.averageAudioBitrate = audio }
            event.numberOfDroppedVideoFrames = knowsDroppedFrames ? droppedFrameCount : nil
            event.startupTime = startupTime
            event.downloadOverdue = downloadOverdue
            event.switchBitrate = switchBitrate
            event.playbackType = playbackType
            event.mediaRequestsExpensive = mediaRequestsExpensive
            event.liveLatency = latency.value
            event.pathway = pathway
            return event
        }
    }
}
