import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlaybackEngine {
    mutating func take(_ fact: MediaFact) {
        switch fact {
        case .tracks(let segment, let tracks): noteTracks(tracks, of: segment)
        case .demuxed(let segment, let time): noteDemuxed(segment, upTo: time)
        case .segmentEnded(let segment, let start, let end): endSegment(segment, start: start, end: end)
        case .segmentFailed(let segment, let failure): failSegment(segment, failure)
        case .replaced(let lane, let number, let time): noteReplaced(lane, by: number, from: time)
        case .headNeeded(let segment): requestHead(of: segment)
        case .headRead(let segment): endHead(of: segment)
        case .earlierSegmentNeeded(let segment): loadEarlier(than: segment)
        case .audioEnded(let segment, let time): item?.lanes[segment.lane]?.endAudio(at: time)
        case .closedCaptions(let services): offerClosedCaptions(services)
        case .metadata(let segment, let group): take(group, of: segment)
        case .syncSamples(let lane, let times):
            if lane == .main, item?.trick == nil { item?.seek.noteSyncSamples(times) }
        }
    }

    // MARK: Tracks

    private mutating func noteTracks(_ tracks: [MediaTrack], of segment: SegmentID) {
        guard !tracks.isEmpty else { return noteTrackless(segment) }
        item?.contents.notePresentable()
        if item?.trick == nil, segment.lane != .subtitles {
            let isNews = item?.contents.tracks[segment.lane] != tracks
            item?.contents.note(tracks, of: segment.lane)
            if isNews, segment.lane == .main { offerAudio(tracks) }
        }
        markDemuxed(segment.lane)
    }

    private mutating func noteTrackless(_ segment: SegmentID) {
        guard segment.lane != .subtitles, item?.trick == nil else { return }
        let url = item?.lanes[segment.lane]?.segments[segment]?.job.url ?? item?.url ?? ""
        if let error = item?.contents.noteTrackless(url: url) { failUnsupported(error, in: segment.lane) }
    }

    mutating func markDemuxed(_ id: LaneID) {
        item?.lanes[id]?.noteDemuxed()
        becomeReady()
    }

    mutating func becomeReady() {
        guard item?.isReady == false, item?.mayBecomeReady == true else { return }
        item?.isReady = true
        let capabilities = rateCapabilities()
        item?.rates.open(capabilities)
        reportTrickPlayObstacle(at: machine.rate)
        run(.capabilitiesChanged(capabilities))
        prepareTrickPlay()
        effects.append(.publish(.itemStatusChanged(.readyToPlay)))
        run(.itemBecameReady)
    }

    mutating func endAssetKeys(_ error: HLSError?) {
        guard item?.awaitsAssetKeys == true, item?.error == nil else { return }
        item?.awaitsAssetKeys = false
        if let error { failItem(error) } else { becomeReady() }
    }

    // MARK: Reading

    private mutating func noteDemuxed(_ segment: SegmentID, upTo time: Duration) {
        if item?.trick != nil { return }
        let (id, start, now) = (segment.lane, item?.start, now)
        // An unchanged item needs no new evaluation.
        guard item?.lanes[id]?.segments.firstIndex(of: segment) != nil,
            let reading = item?.lanes[id]?.read(segment, upTo: time, from: start, at: now)
        else { return }
        insert(reading, byteCount: 0, in: id)
        guard let media = reading.media else { return }
        if id != .subtitles, !media.isEmpty { item?.contents.noteMedia() }
        endAudio(reading.flight, demuxedUpTo: time)
    }

    private mutating func endSegment(_ segment: SegmentID, start: Duration, end: Duration) {
        if item?.trick != nil { return endFrame(segment) }
        let (id, now) = (segment.lane, now)
        guard item?.lanes[id]?.segments.firstIndex(of: segment) != nil,
            let flight = item?.lanes[id]?.endReading(segment, at: now)
        else { return }
        let byteCount = loading.receivedByteCount(of: flight)
        if let key = flight.job.key?.resource { item?.keys.prove(key) }
        item?.contents.notePresentable()
        if id != .subtitles { item?.contents.noteMedia() }
        becomeReady()
        let itemStart = item?.start
        reportMissingMedia(item?.lanes[id]?.gap(before: min(start, flight.job.start), from: itemStart), in: id)
        if let reading = item?.lanes[id]?.reading(of: flight, (start, end), from: itemStart) {
            insert(reading, byteCount: byteCount, in: id)
            let last = reading.media?.upperBound ?? end
            let next = buffer.start(ofMediaAfter: last, in: id.bufferTrack)
            let gap = item?.lanes[id]?.gap(after: last, upTo: next)
            buffer.insertMissingMedia(gap, in: id.bufferTrack)
            reportMissingMedia(gap, in: id)
        }
        if let late = item?.lanes[id]?.late, late.until == nil { goBackForLate(id) }
        if id == .main { item?.variants.noteRead(of: flight.variantIndex) }
        if id == .main, flight.job.start < end { timeControl.recover(flight.job.start..<end, at: playhead) }
        item?.lanes[id]?.noteRead(flight.position, upTo: end)
        loading.noteRead(flight)
        tally.loadSegment()
        if flight.position.part != nil { tally.loadPart() }
        noteLoaded(byteCount: byteCount, flight)
        effects.append(
            .publish(
                .segmentLoaded(
                    SegmentLoad(flight, of: item?.variants.id(of: flight.variantIndex), byteCount: byteCount, at: now)))
        )
    }

    private mutating func insert(_ reading: MediaLane.Reading, byteCount: Int, in id: LaneID) {
        buffer.insertMissingMedia(reading.gap, in: id.bufferTrack)
        guard let media = reading.media else { return }
        buffer.insert(
            ForwardBuffer.Piece(range: media, byteCount: reading.isAgain ? 0 : byteCount), in: id.bufferTrack)
    }

    /// Reports missing media that no playlist announced, because playback continues across it.
    ///
    /// The end of the missing media is known only when a whole segment was read. The times of a playlist may differ
    /// from the media without anything missing.
    private mutating func reportMissingMedia(_ gap: Range<Duration>?, in id: LaneID) {
        guard let gap, id != .subtitles, item?.gaps.isNews(gap) == true else { return }
        item?.gaps.note(gap)
        effects.append(.publish(.missingMediaSkipped(MediaTimeRange(gap))))
    }

    mutating func noteDelivered(_ flight: SegmentInFlight) {
        let now = now
        item?.lanes[flight.id.lane]?.lost.deliver(flight.id, role: flight.role, at: now)
    }

    private mutating func noteLoaded(byteCount: Int, _ flight: SegmentInFlight) {
        let (lane, duration) = (flight.id.lane, flight.job.duration)
        guard lane != .subtitles, duration > .zero else { return }
        let index = flight.variantIndex ?? item?.variantIndex
        item?.variants.noteLoaded(byteCount: byteCount, duration: lane == .main ? duration : .zero, of: index)
    }

    // MARK: Skipping

    /// Skips a segment whose loading has not begun.
    mutating func skip(_ index: Int, in id: LaneID, cause: String, isListedGap: Bool = false) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        let segment = tracker.playlist.segments[index]
        skipRange(
            id, tracker.starts[index]..<tracker.starts[index + 1], sequence: segment.mediaSequence,
            url: URIReference.resolve(segment.uri, against: tracker.url) ?? segment.uri, cause: cause,
            isListedGap: isListedGap)
        item?.lanes[id]?.advance(past: index)
    }

    mutating func skip(_ segment: SegmentID, cause: String) {
        if item?.trick != nil { return skipFrame(segment) }
        guard let flight = item?.lanes[segment.lane]?.segments.remove(segment) else { return }
        if let request = flight.request { cancel(request) }
        effects.append(.abandonSegment(segment))
        loading.failures.succeed(.segment(flight.role))
        skipRange(
            segment.lane, flight.missingRange, sequence: flight.job.mediaSequence, url: flight.job.url, cause: cause)
    }

    private mutating func skipRange(
        _ id: LaneID, _ range: Range<Duration>, sequence: Int, url: String, cause: String,
        isListedGap: Bool = false
    ) {
        let start = item?.start
        buffer.insertMissingMedia(item?.lanes[id]?.skipRange(range, from: start), in: id.bufferTrack)
        buffer.insert(ForwardBuffer.Piece(range: range, byteCount: 0, isGap: true), in: id.bufferTrack)
        if !range.isEmpty { effects.append(.skipped(id, range)) }
        var skipped = SkippedSegments(range, sequence: sequence, url: url, cause: cause)
        skipped.isListedGap = isListedGap
        skipped.isOfVariant = id == .main
        if id == .main {
            timeControl.lose(range, at: playhead)
            tally.skip(duration: skipped.mediaDuration)
        }
        effects.append(.publish(.segmentSkipped(skipped)))
    }
}
