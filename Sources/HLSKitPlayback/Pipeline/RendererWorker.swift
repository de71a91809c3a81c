import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime

/// The work of a ``TrackRenderer``'s task: decodes samples in order and delivers the results when they are due.
struct RendererWorker {
    private static let lateFrameTolerance = Duration.milliseconds(40)
    /// The longest time that a frame may stay on screen because the decoder is slow.
    private static let longestFrame = Duration.milliseconds(500)
    /// The number of frames decoded ahead, so that a frame that takes longer to decode is still on time.
    private static let decodedAhead: [MediaKind: Int] = [.video: 3, .audio: 8]
    /// The amount of media without output after which priming no longer waits.
    private static let longestSilence = Duration.seconds(1)

    private let renderer: TrackRenderer
    private var delivery: MediaDelivery
    private var decoding: SampleDecoder
    private var window = PresentationWindow()
    private var offset = Duration.zero
    private var trimmer = GaplessTrimmer()
    private var shown = ShownMedia()
    private var lastDecoded: Duration?
    private var pending: [DecodedMedia] = []
    private let decodedAhead: Int
    private var copies = CopySelection()
    private var heldCopies = HeldCopies()
    private var sought = SeekFrameCandidate<DecodedMedia>()
    /// The seek target that reading continues from, and whether the first media there was reported.
    private var landing: SeekTarget?
    private var isTakerNew = true
    /// Whether the current sample is not shown, but later frames depend on it.
    var isSkipped = false
    /// Whether media past the end of the window has been decoded, so that no more of the run is presented.
    private var isOver = false
    private var limit = MediaLimit()
    private var mediaAfterBreak = MediaAfterBreak()

    init(renderer: TrackRenderer) {
        self.renderer = renderer
        decodedAhead = renderer.clock.isPaced ? Self.decodedAhead[renderer.mediaType] ?? 0 : 0
        delivery = MediaDelivery(renderer)
        decoding = SampleDecoder(renderer)
    }

    var generation: Int { delivery.generation }
    private var track: MediaTrack? { decoding.track }
    private var decoder: TrackDecoder? { decoding.decoder }

    mutating func reset(to generation: Int, continuesCopies: Bool) {
        delivery.reset(to: generation)
        decoding.reset()
        pending = []
        mediaAfterBreak = MediaAfterBreak()
        heldCopies = HeldCopies()
        lastDecoded = nil
        if continuesCopies { copies.restart() } else { copies = CopySelection() }
        sought = SeekFrameCandidate()
        landing = nil
        isOver = false
        limit = MediaLimit(until: limit.until)
    }

    mutating func process(_ item: SampleStore.Item, isCopied: Bool = false) async {
        await followLimit()
        switch item {
        case .track(let start):
            if !isAllPastEnd, !isOverAtBreak {
                await drain()
                await presentAll()
            }
            if isAllPastEnd || isOverAtBreak { mediaAfterBreak.keep(item) } else { await begin(start) }
        case .skipped:
            if isAllPastEnd || isOverAtBreak { mediaAfterBreak.keep(item) } else { restart() }
        case .sample(let sample, let offset): await decode(sample, offset: offset, isCopied: isCopied)
        case .end(let number):
            // A drained decoder cannot continue. If more media arrives, a new one is opened at the next sync sample.
            if !isOverAtBreak {
                await drain()
                decoding.close()
            }
            delivery.notePrimed(nil)
            await presentAll()
            decoding.reportSilenceOfAll()
            delivery.finish(number)
        }
    }

    private mutating func begin(_ start: SampleStore.RunStart) async {
        let track = start.track
        decoding.begin(track, parameterSets: start.parameterSets)
        window = start.window
        aim(at: start.landing)
        copies.begin(track, in: start.copied)
        trimmer = GaplessTrimmer(track.gapless)
        shown = ShownMedia(track.shownRange)
        trimmer.pass(start.skippedTicks, timescale: track.timescale, sampleRate: track.sampleRate)
        if window.dropsOverlap, let lastPresented = delivery.lastPresented {
            self.window.from = max(window.from ?? lastPresented, lastPresented + .microseconds(1))
        }
        lastDecoded = nil
        isOver = false
        isTakerNew = true
        decoding.open(renderer.currentMode)
        if renderer.dispatcher.registry.writersWantSamples(of: track.mediaType) {
            renderer.dispatcher.lockstep?.join(track.mediaType)
        }
        await delivery.call { dispatcher throws(HLSError) in try await dispatcher.begin(track, at: start.time) }
    }

    /// Restarts the decoder: its contents were needed only for samples that were skipped.
    private mutating func restart() {
        guard decoder != nil else { return }
        sought.forgetCandidate()
        decoding.restart(renderer.currentMode)
    }

    /// Called when outputs change. Opens a decoder at the next sync sample, or closes it.
    private mutating func adjustDecoder(to mode: TrackRenderer.Mode, at sample: MediaSample) async {
        if mode.decodingThreadCount == nil {
            guard decoder != nil else { return }
            decoding.close()
            pending = []
            mediaAfterBreak.forgetMedia()
            await handOverCopies(upTo: nil)
            decoding.forgetSkippableFrames()
        } else if decoder == nil, sample.isSync {
            decoding.open(mode)
        }
    }

    /// Stores the seek target. The first run after the seek contains it.
    private mutating func aim(at landing: SeekTarget?) {
        guard let landing, self.landing == nil else { return }
        self.landing = landing
        guard case .exact(let time) = landing, track?.mediaType == .video,
            renderer.currentMode.decodingThreadCount != nil
        else { return }
        // The frame shown at this time starts before it.
        sought.seek(time)
        window.from = nil
    }

    private mutating func decode(_ sample: MediaSample, offset: Duration, isCopied: Bool) async {
        let mode = renderer.currentMode
        let isUseless = isAllPastEnd
        self.offset = offset
        if !isUseless {
            await adjustDecoder(to: mode, at: sample)
            if decoding.isStuck, sample.isSync { await nudgeDecoder() }
            if mode.passesSamples, !isCopied { await take(sample) }
        }
        if isUseless || isOverAtBreak {
            if !isUseless { await handOverCopies(upTo: nil) }
            mediaAfterBreak.keep(
                .sample(sample, offset: offset), isCopied: isCopied || !isUseless && mode.passesSamples)
            noteSilence(after: sample)
            return noteConsumed(sample, offset: offset)
        }
        var frames: [VideoFrame] = []
        var buffers: [AudioBuffer] = []
        var isSilent = false
        do {
            switch decoder {
            case .some where isOver: break
            case .video(let decoder):
                guard await mayDecode(sample, with: decoder) else { break }
                isSilent = true
                try decoder.decode(decoding.prepare(sample), to: &frames)
            case .audio(let decoder):
                isSilent = true
                try decoder.decode(sample, to: &buffers)
            case nil:
                guard !mode.passesSamples else { return }
                delivery.notePrimed(nil)
                noteUntaken(sample)
                noteConsumed(sample, offset: offset)
                return
            }
        } catch {
            decoding.note(error)
            decoding.silence.noteFailure()
        }
        if !frames.isEmpty || !buffers.isEmpty {
            decoding.silence.end()
        } else if isSilent {
            noteDecoderSilence(at: sample)
        }
        await deliver(frames)
        await deliver(buffers)
        if window.isStill {
            await drain()
            decoding.close()
        }
        noteSilence(after: sample)
        await limitHeldCopies()
        noteConsumed(sample, offset: offset)
    }

    private mutating func noteDecoderSilence(at sample: MediaSample) {
        guard let track else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        if decoding.continuesSilently(at: time) { delivery.notePrimed(nil) }
        // Time continues over undecodable media, also at the end.
        if decoding.silence.isReported { noteUntaken(sample) }
    }

    /// Restarts a decoder without output, unless draining it produces output.
    private mutating func nudgeDecoder() async {
        decoding.isStuck = false
        if !sought.isSought { await drain() }
        guard decoding.silence.start != nil else { return }
        decoding.reportRestart()
        restart()
    }

    /// Advances the end over media without an output or without decoder output, so that the item ends with its media.
    private mutating func noteUntaken(_ sample: MediaSample) {
        guard renderer.clock.isPaced, let track else { return }
        let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
        let length = ItemTimeline.duration(sample.duration, track.timescale)
        if isInside(time, length, isVideo: track.mediaType == .video) { delivery.extend(to: time + length) }
    }

    /// Ends the wait for the first media if it cannot be decoded.
    private mutating func noteSilence(after sample: MediaSample) {
        guard !delivery.isPrimed, !window.isStill, let track, let from = landing?.time ?? window.from else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        if time - from > Self.longestSilence { delivery.notePrimed(nil) }
    }

    /// Reduces the work of a late decoder, but not before the first frame, which needs all earlier frames.
    private mutating func mayDecode(_ sample: MediaSample, with decoder: any VideoDecoding) async -> Bool {
        guard renderer.clock.isPaced, !window.isStill, delivery.lastPresented != nil, let track else {
            // A third to a half of the frames before the first shown one are unreferenced.
            decoder.skipsUnreferencedFrames = isSkipped && !window.isStill
            return true
        }
        let lateness = renderer.clock.now - ItemTimeline.duration(sample.dts, track.timescale) - offset
        let previous = decoding.effort.last
        let step = decoding.step(for: sample, lateness: lateness)
        decoder.skipsUnreferencedFrames = step == .decodeReferences
        guard step == .skip else { return true }
        // Frames in the decoder may still come out. The next decoded sample starts again.
        if previous != .skip { await drain() }
        delivery.countDropped(1)
        return false
    }

    /// Reports media as presented without a clock, even if decoding produced nothing.
    ///
    /// Otherwise, the player would wait forever for undecodable frames.
    private mutating func noteConsumed(_ sample: MediaSample, offset: Duration) {
        guard !renderer.clock.isPaced, let track else { return }
        delivery.noteConsumed(at: ItemTimeline.duration(sample.dts, track.timescale) + offset)
    }

    private mutating func drain() async {
        guard let (frames, buffers) = decoding.drain() else { return }
        await deliver(frames)
        await deliver(buffers)
        // If no frame follows, the held frame is the one shown at the seek target.
        if let last = sought.takeLast() { await land(on: last) }
        delivery.countDropped(decoding.takeSkippedCount(upTo: .max))
    }

    private mutating func deliver(_ frames: [VideoFrame]) async {
        for frame in frames {
            delivery.countDropped(decoding.takeSkippedCount(upTo: frame.pts))
            guard shown.shows(frameAt: frame.pts) else { continue }
            let time = ItemTimeline.duration(frame.pts, frame.timescale) + offset
            let length = ItemTimeline.duration(frame.duration, frame.timescale)
            if sought.isSought {
                let outcome = sought.take(
                    DecodedMedia(content: .video(frame), time: time, length: length), at: time, length: length)
                if outcome.isReplaced { renderer.count { $0.decodedFrames += 1 } }
                if let found = outcome.found { await land(on: found) }
                if !outcome.isBehind { continue }
            }
            await queue(.video(frame), at: time, length: length, isInside: isInside(time, length, isVideo: true))
        }
    }

    private mutating func land(on frame: DecodedMedia) async {
        await queue(frame.content, at: frame.time, length: frame.length, isInside: true)
    }

    private mutating func deliver(_ buffers: [AudioBuffer]) async {
        for buffer in buffers.flatMap({ trimmed($0) }).compactMap({ cut($0) }) {
            var (buffer, time) = (buffer, ItemTimeline.duration(buffer.pts, buffer.timescale) + offset)
            let cut = AudioTrim(limit.bound(window)).cut(
                time: time, frameCount: buffer.frameCount, sampleRate: buffer.sampleRate)
            if let cut {
                do throws(CodecError) {
                    try keepOverhang(buffer, at: time, trailing: cut.trailing)
                    buffer = try buffer.trimmed(leading: cut.leading, trailing: cut.trailing)
                    time += Duration.seconds(1) * cut.leading / max(1, buffer.sampleRate)
                } catch {
                    decoding.note(error)
                    continue
                }
            }
            let length = Duration.seconds(1) * buffer.frameCount / max(1, buffer.sampleRate)
            await queue(.audio(buffer), at: time, length: length, isInside: isInside(time, length, isVideo: false))
        }
    }

    private mutating func queue(_ media: DecodedMedia.Content, at time: Duration, length: Duration, isInside: Bool)
        async
    {
        renderer.count { $0.decodedFrames += 1 }
        guard isInside else {
            let media = DecodedMedia(content: media, time: time, length: length)
            return await skipMedia(media)
        }
        await enqueue(media, at: time, length: length)
    }

    private mutating func skipMedia(_ media: DecodedMedia) async {
        guard let until = limit.bound(window).until, media.time >= until else { return }
        if isBoundByBreak { mediaAfterBreak.keep(media) }
        guard !isOver else { return }
        isOver = true
        // Media is in presentation order, so all frames before the limit have been decoded.
        await presentAll()
        // Stop reading until the break starts, because it may still be cancelled.
        if isBoundByBreak, renderer.clock.isPaced { _ = await waitUntilDue(until, isHeard: media.isAudio) }
    }

    private var isBoundByBreak: Bool { limit.until != nil && limit.until == limit.bound(window).until }
    private var isOverAtBreak: Bool { isOver && decoder != nil && isBoundByBreak }
    /// Whether all media that is read is past the start of a break, for every output.
    private var isAllPastEnd: Bool {
        guard isBoundByBreak else { return false }
        if mediaAfterBreak.hasUnreadTrack { return true }
        let isCopied = renderer.currentMode.passesSamples && !limit.isPassed
        return decoder == nil ? limit.isPassed : isOver && !isCopied
    }

    mutating func followLimit() async {
        let until = renderer.currentMode.until
        guard limit.until != until else { return }
        limit = MediaLimit(until: until)
        isOver = false
        let held = mediaAfterBreak.take()
        heldCopies.putBack(held.copies)
        if decoder == nil { await handOverCopies(upTo: nil) }
        for media in held.media.sorted(by: { $0.time < $1.time }) {
            if limit.bound(window).until.map({ media.time >= $0 }) ?? false {
                await skipMedia(media)
            } else {
                await enqueue(media.content, at: media.time, length: media.length)
            }
        }
        let isOfItemInHand = isSkipped
        isSkipped = false
        for unread in held.unread where renderer.isCurrent(generation) {
            await process(unread.item, isCopied: unread.isCopied)
        }
        isSkipped = isOfItemInHand
    }

    mutating func truncate(from time: Duration) {
        guard let track else { return }
        mediaAfterBreak.truncate(from: time, timescale: track.timescale)
    }

    private mutating func keepOverhang(_ buffer: AudioBuffer, at time: Duration, trailing count: Int) throws(CodecError)
    {
        guard count > 0, isBoundByBreak, mediaAfterBreak.hasRoomForMedia else { return }
        let leading = buffer.frameCount - count
        let rate = max(1, buffer.sampleRate)
        mediaAfterBreak.keep(
            DecodedMedia(
                content: .audio(try buffer.trimmed(leading: leading, trailing: 0)),
                time: time + Duration.seconds(1) * leading / rate, length: Duration.seconds(1) * count / rate))
    }

    private mutating func enqueue(_ media: DecodedMedia.Content, at time: Duration, length: Duration) async {
        guard !isTooLate(media, at: time), !isAgain(media, at: time) else { return }
        let itemTime = MediaTime(time)
        let media = media.placed(at: itemTime)
        prepare(media)
        pending.append(DecodedMedia(content: media, time: time, length: length))
        delivery.notePrimed(time)
        while pending.count > decodedAhead || isFirstDue { await presentFirst() }
    }

    private func prepare(_ media: DecodedMedia.Content) {
        switch media {
        case .video(let frame): renderer.dispatcher.prepare(frame, generation: delivery.clockGeneration)
        case .audio(let buffer): renderer.dispatcher.prepare(buffer, generation: delivery.clockGeneration)
        }
    }

    private var isFirstDue: Bool {
        guard let first = pending.first else { return false }
        return renderer.clock.isDue(first.time, isHeard: first.isAudio)
    }

    /// Whether a frame is late enough to be dropped.
    ///
    /// A late frame is still shown if no other frame was shown for a while.
    private mutating func isTooLate(_ media: DecodedMedia.Content, at time: Duration) -> Bool {
        guard renderer.clock.isPaced, !window.isStill, case .video = media,
            renderer.clock.now - time > Self.lateFrameTolerance,
            let lastPresented = delivery.lastPresented, time - lastPresented < Self.longestFrame
        else { return false }
        delivery.countDropped(1)
        return true
    }

    /// Whether a frame would be shown after a later one.
    ///
    /// This happens if a server has the same media under two names. Consecutive frames with the same time are all
    /// shown, because their duration is 0.
    private mutating func isAgain(_ media: DecodedMedia.Content, at time: Duration) -> Bool {
        guard !window.isStill, case .video = media else { return false }
        let mayRepeatLast = lastDecoded == time
        lastDecoded = time
        guard let last = pending.last?.time ?? delivery.lastPresented, time <= last, !(mayRepeatLast && time == last)
        else {
            return false
        }
        delivery.countDropped(1)
        return true
    }

    var hasPending: Bool { !pending.isEmpty }

    /// Whether the first frame can be decoded before a second sample arrives.
    ///
    /// This is not used with a clock, because waiting for the time of this frame would delay the decoding of later
    /// ones.
    var hasFirstFrame: Bool {
        guard !renderer.clock.isPaced, !window.isStill, case .video(let decoder) = decoder else { return false }
        return decoder.hasFirstFrame
    }

    mutating func useIdleTime() async {
        guard hasFirstFrame, case .video(let decoder) = decoder else { return await presentFirst() }
        var frames: [VideoFrame] = []
        decoder.decodeFirstFrame(to: &frames)
        await deliver(frames)
    }

    private mutating func presentAll() async {
        while hasPending { await presentFirst() }
        await handOverCopies(upTo: nil)
    }

    mutating func presentFirst() async {
        guard !pending.isEmpty else { return }
        let next = pending.removeFirst()
        guard await waitUntilDue(next.time, isHeard: next.isAudio) else { return }
        // A break may have been set since the frame was decoded.
        if let until = renderer.currentMode.until, next.time >= until { return mediaAfterBreak.keep(next) }
        await handOverCopies(upTo: next.time)
        await delivery.write(next)
    }

    private mutating func trimmed(_ buffer: AudioBuffer) -> [AudioBuffer] {
        do throws(CodecError) {
            return try trimmer.trim(buffer)
        } catch {
            decoding.note(error)
            return []
        }
    }

    private mutating func cut(_ buffer: AudioBuffer) -> AudioBuffer? {
        do throws(CodecError) {
            return try shown.cut(buffer)
        } catch {
            decoding.note(error)
            return nil
        }
    }

    /// Copies a sample when it is due or, if it is also decoded, together with the decoded media.
    private mutating func take(_ sample: MediaSample) async {
        guard let track, shown.copies(sample, of: track.mediaType) else { return }
        let copy = HeldCopy(sample, of: track, offset: offset)
        if decoder != nil, renderer.clock.isPaced, !window.isStill {
            heldCopies.append(copy)
        } else {
            await handOverCopies(upTo: nil)
            await pass(copy)
        }
    }

    private mutating func handOverCopies(upTo time: Duration?) async {
        while let copy = heldCopies.takeFirst(upTo: time) { await pass(copy) }
    }

    /// Limits how long a decoder with little or unpresented output can delay held samples.
    private mutating func limitHeldCopies() async {
        while delivery.isPrimed, let copy = heldCopies.takeExcess() { await pass(copy) }
    }

    private mutating func pass(_ copy: HeldCopy) async {
        guard let track else { return }
        let (sample, timing, offset) = (copy.sample, copy.timing, copy.offset)
        if decoder == nil { renderer.count { $0.decodedFrames += 1 } }
        let isAfterBreak = !limit.takes(sample, timing, isVideo: track.mediaType == .video)
        switch isAfterBreak ? .outside : copies.judge(sample, timing) {
        case .wanted: break
        case .dropped: return
        case .outside:
            if isAfterBreak { mediaAfterBreak.keep(copy) }
            // No earlier sample will be written, even if this one is not written either.
            _ = renderer.dispatcher.lockstep?.isNext(timing.decoding, of: track.mediaType)
            return
        }
        if decoder == nil { delivery.notePrimed(timing.presentation) }
        guard await waitUntilDue(timing.decoding) else { return }
        await renderer.dispatcher.lockstep?.wait(for: timing.decoding, of: track.mediaType)
        // A break may have been set or moved in the meantime.
        guard renderer.currentMode.until == limit.until else { return mediaAfterBreak.keep(copy) }
        let generation = delivery.clockGeneration
        if track.mediaType == .audio {
            for sample in copies.takeAudioLeadIn() {
                let time = MediaTime(ItemTimeline.duration(sample.pts, track.timescale) + offset)
                await delivery.call { dispatcher throws(HLSError) in
                    try await dispatcher.write(audioLeadIn: sample, at: time, before: MediaTime(timing.presentation))
                }
            }
        }
        for sample in copies.take(sample, timing) {
            let sample = limit.place(isTakerNew ? decoding.completed(sample) : sample, of: track, offset: offset)
            isTakerNew = false
            let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
            await delivery.call { dispatcher throws(HLSError) in
                try await dispatcher.write(sample, of: track, at: MediaTime(time), generation: generation)
            }
        }
        if decoder == nil { delivery.handedOver(max(timing.presentation, timing.decoding), timing.length) }
    }

    private func isInside(_ time: Duration, _ length: Duration, isVideo: Bool) -> Bool {
        if window.isEmpty { return false }
        if let from = window.from, isVideo ? time < from : time + length <= from { return false }
        return limit.bound(window).until.map { time < $0 } ?? true
    }

    private func waitUntilDue(_ time: Duration, isHeard: Bool = false) async -> Bool {
        await delivery.waitUntilDue(time, isHeard: isHeard, isStill: window.isStill)
    }
}
