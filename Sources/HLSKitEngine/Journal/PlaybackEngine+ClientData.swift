import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// The current facts that are sent to servers. Nothing here is used without a ``CMCDState``.
extension PlaybackEngine {
    // MARK: Requests

    func clientData(of order: RequestOrder, _ keeper: borrowing CMCDState) -> ClientDataNote {
        var facts = momentFacts(keeper)
        switch order.purpose {
        case .segment(let segment, _):
            note(segment.lane, in: &facts)
            if let lane = item?.lanes[segment.lane] {
                facts.duration = lane.segments[segment]?.job.duration
                facts.next = nextObject(of: lane)
            }
        case .head(let segment): note(segment.lane, in: &facts)
        case .hint(let lane, .part): note(lane, in: &facts)
        case .firstPlaylist, .mediaPlaylist, .resource, .hint(_, .map), .steering, .assetList: break
        }
        return ClientDataNote(facts)
    }

    private func note(_ id: LaneID, in facts: inout ClientDataFacts) {
        facts.objectType = objectType(of: id)
        facts.targetBufferLength = forwardTarget
        let ahead = buffer.forwardDuration(of: id.bufferTrack, situation())
        facts.bufferLength = ahead
        let rate = abs(timebase.rate)
        facts.deadline = rate > 0 && rate.isFinite ? ahead / rate : ahead
        if id == .main, item?.trick == nil { facts.bitRates = bitRates(of: item?.variant) }
    }

    private func nextObject(of lane: borrowing MediaLane) -> ClientDataFacts.NextObject? {
        guard let tracker = lane.tracker, let index = lane.nextIndex,
            tracker.playlist.segments.indices.contains(index),
            let url = URIReference.resolve(tracker.playlist.segments[index].uri, against: tracker.url)
        else { return nil }
        let segment = tracker.playlist.segments[index]
        return ClientDataFacts.NextObject(url: url, byteRange: segment.loadedRange)
    }

    private func objectType(of id: LaneID) -> ClientDataFacts.ObjectType? {
        switch id {
        case .audio: return .audio
        case .subtitles: return item?.lanes[.subtitles]?.tracker?.playlist.objectTypeOfSubtitles ?? .caption
        case .main:
            if item?.trick != nil || item?.lanes[.audio] != nil { return .video }
            if let variant = item?.variant, item?.multivariant != nil { return variant.objectType }
            // Nothing declares the type, so it follows from the tracks in the media.
            let types = Set((item?.contents.tracks[.main] ?? []).map(\.mediaType))
            return types.contains(.video) ? types.contains(.audio) ? .muxed : .video : types.isEmpty ? nil : .audio
        }
    }

    private func bitRates(of variant: AssetVariant?) -> ClientDataFacts.BitRates {
        var rates = ClientDataFacts.BitRates()
        guard item?.multivariant != nil, let variant, variant.bandwidth > 0, let item else { return rates }
        // The declared bit rate of a variant includes all media that plays with it.
        rates.isAggregate = item.lanes[.audio] != nil
        rates.encoded = variant.bandwidth
        rates.top = item.candidates.map(\.bandwidth).max()
        rates.lowest = item.candidates.map(\.bandwidth).filter { $0 > 0 }.min()
        rates.topPlayable = item.variants.choice.last?.bandwidth
        return rates
    }

    private func momentFacts(_ keeper: borrowing CMCDState) -> ClientDataFacts {
        var facts = ClientDataFacts()
        facts.throughput = loading.estimatedBitsPerSecond(at: now)
        facts.isUrgent = keeper.isUrgent
        facts.rate = timebase.rate
        facts.state = keeper.state(keeperView)
        facts.startDelay = keeper.startDelay
        facts.starvationCount = keeper.starvationCount
        facts.starvations = keeper.starvations
        facts.errors = keeper.errors
        facts.droppedFrameCount = keeper.droppedFrameCount
        facts.isBackgrounded = keeper.isBackgrounded
        facts.sessionID = item?.session?.id
        facts.network = item?.variant?.pathwayID
        guard let tracker = item?.mainTracker else { return facts }
        facts.playheadTime = tracker.isLive ? tracker.date(at: playhead).map { $0 - PlaylistDate(seconds: 0) } : nil
        facts.playheadTime = facts.playheadTime ?? playhead
        facts.playheadBitRate = keeper.bitRate(at: playhead)
        facts.streamType = !tracker.isLive ? .onDemand : tracker.usesParts ? .lowLatency : .live
        if tracker.isLive { facts.liveLatency = max(.zero, tracker.end - playhead) }
        return facts
    }

    // MARK: Events

    private var keeperView: CMCDState.View {
        CMCDState.View(
            now: now, epoch: configuration.epoch, status: machine.status, errorCode: item?.error?.code.rawValue,
            isLikelyToKeepUp: report.isLikelyToKeepUp)
    }

    mutating func keepClientData(of event: EngineEvent?) {
        guard clientData != nil, item != nil else { return }
        let view = keeperView
        let (playhead, bitRate) = (playhead, item?.variant.map(\.bandwidth))
        for case .beginSegment(let job) in effects where job.id.lane == .main {
            clientData?.noteBitRate(bitRate, from: job.start, playhead: playhead)
        }
        let occurrences = clientData?.look(at: event, effects, view) ?? []
        for occurrence in occurrences { report(occurrence) }
        armReport()
    }

    private mutating func armReport() {
        let due = clientData?.nextInterval
        guard due != clientData?.armed else { return }
        clientData?.armed = due
        effects.append(due.map { .arm(.report, at: $0) } ?? .disarm(.report))
    }

    mutating func closeClientData() {
        guard let keeper = clientData else { return }
        let view = keeperView
        if let last = clientData?.close(view) { report(last, state: .quit) }
        clientData = CMCDState(keeper.settings)
    }

    private mutating func report(_ occurrence: CMCDState.Occurrence, state: ClientDataFacts.State? = nil) {
        guard let keeper = clientData, let diary = sessions.journal?.session.diary else { return }
        var facts: ClientDataFacts
        if let known = occurrence.facts?.facts {
            facts = known
        } else {
            facts = momentFacts(keeper)
            if item != nil { note(.main, in: &facts) }
            // The facts describe current playback and not a requested object.
            facts.deadline = nil
        }
        if let state { facts.state = state }
        if occurrence.event.kind == .playbackRate { facts.rate = Double(machine.rate) }
        if occurrence.event.kind == .error, facts.state == .failed { facts.rate = 0 }
        effects.append(.diary(diary, .report(ClientDataOccurrence(occurrence.event, facts, target: occurrence.target))))
    }
}
