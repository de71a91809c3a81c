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
    private static let longestPicture = Duration.milliseconds(500)
    /// The number of frames decoded ahead, so that a frame that takes longer to decode is still on time.
    private static let decodedAhead: [MediaKind: Int] = [.video: 3, .audio: 8]
    /// The amount of media between two reports without a clock.
    private static let reportInterval = Duration.milliseconds(200)
    /// The amount of media without output after which priming no longer waits.
    private static let longestSilence = Duration.seconds(1)
    /// The maximum distance of decoding ahead of the copied samples.
    private static let longestHeldCopies = Duration.seconds(1)

    /// The minimum amount of media between two reports of slow readers.
    private static let lossInterval = Duration.seconds(10)

    /// The number of different decoder errors that are reported per stream.
    private static let mostKindsOfDamage = 16

    private let renderer: TrackRenderer
    private(set) var generation = 0
    private var clockGeneration: Int
    private var track: MediaTrack?
    private var decoder: TrackDecoder?
    private var window = PresentationWindow()
    private var offset = Duration.zero
    private var trimmer = GaplessTrimmer()
    private var shown = ShownMedia()
    private var lastPresented: Duration?
    /// The presentation time of the last decoded frame of this run.
    private var lastDecoded: Duration?
    /// The end of the last delivered media.
    private var end = Duration.zero
    private var reported: Duration?
    private var hasFailed = false
    /// The decoder errors so far, one of each kind.
    private var damage: Set<CodecError> = []
    private var isUndecodable = false
    /// Decoded media that was not presented yet, in presentation order.
    private var pending: [DecodedMedia] = []
    private let decodedAhead: Int
    private var effort = DecodingEffort()
    private var optionalPictures = OptionalPictures()
    private var copies = CopySelection()
    /// Samples that were decoded but still have to be copied when they are due.
    ///
    /// They wait because a decoder needs further samples before its first output, and time does not pass until there is
    /// a frame.
    private var heldCopies: [HeldCopy] = []
    private var sought = SoughtPicture<DecodedMedia>()
    /// The seek target that reading continues from, and whether the first media there was reported.
    private var landing: Landing?
    private var isPrimed = false
    /// The parameter sets of the track, and whether the next sample is the first one for a decoder or for an output.
    private var parameterSets: [UInt8] = []
    private var isDecoderNew = true
    private var isTakerNew = true
    private var silence = DecoderSilence()
    /// Whether the decoder has produced no output and restarts at the next sync sample.
    private var isDecoderStuck = false
    /// Whether the current sample is not shown, but later frames depend on it.
    var isPassedOver = false
    /// Whether media past the end of the window has been decoded, so that no more of the run is presented.
    private var isOver = false
    /// The break after which media is not presented, independent of the window.
    private var limit = MediaLimit()
    /// The losses of the outputs' readers at the last check, the unreported losses, and the time of the last report.
    private var lostCount = 0
    private var untoldLosses = 0
    private var lossesTold: Duration?
    /// Media past the limit, which is presented if the break is cancelled.
    private var beyond = MediaBehindBreak()

    init(renderer: TrackRenderer) {
        self.renderer = renderer
        decodedAhead = renderer.clock.isPaced ? Self.decodedAhead[renderer.mediaType] ?? 0 : 0
        clockGeneration = renderer.clock.generation
    }

    mutating func reset(to generation: Int, continuesCopies: Bool) {
        self.generation = generation
        clockGeneration = renderer.clock.generation
        decoder = nil
        track = nil
        pending = []
        beyond = MediaBehindBreak()
        heldCopies = []
        lastPresented = nil
        lastDecoded = nil
        effort = DecodingEffort()
        optionalPictures = OptionalPictures()
        if continuesCopies { copies.continueAnew() } else { copies = CopySelection() }
        reported = nil
        sought = SoughtPicture()
        landing = nil
        isPrimed = false
        silence = DecoderSilence()
        isDecoderStuck = false
        isOver = false
        limit = MediaLimit(until: limit.until)
    }

    /// - Parameter isCopied: Whether outputs for undecoded samples have received the item.
    mutating func process(_ item: SampleStore.Item, isCopied: Bool = false) async {
        await followLimit()
        switch item {
        case .track(let start):
            if !isAllBeyond, !isOverAtBreak {
                await drain()
                await presentAll()
            }
            if isAllBeyond || isOverAtBreak { beyond.keep(item) } else { await begin(start) }
        case .skipped:
            if isAllBeyond || isOverAtBreak { beyond.keep(item) } else { beginAnew() }
        case .sample(let sample, let offset): await decode(sample, offset: offset, isCopied: isCopied)
        case .end(let number):
            // A drained decoder cannot continue. If more media arrives, a new one is opened at the next sync sample.
            if !isOverAtBreak {
                await drain()
                decoder = nil
            }
            notePrimed(nil)
            await presentAll()
            if silence.isOfAll { renderer.report(.silent(silenceError, isAll: true)) }
            renderer.dispatcher.lockstep?.end(renderer.mediaType)
            renderer.dispatcher.finish(renderer.mediaType, generation: clockGeneration)
            renderer.report(.drained(end: end, number: number))
        }
    }

    private mutating func begin(_ start: SampleStore.RunStart) async {
        let track = start.track
        self.track = track
        window = start.window
        aim(at: start.landing)
        copies.begin(track, in: start.copied)
        trimmer = GaplessTrimmer(track.gapless)
        shown = ShownMedia(track.shownRange)
        trimmer.pass(start.skippedTicks, timescale: track.timescale, sampleRate: track.sampleRate)
        if window.dropsOverlap, let lastPresented {
            self.window.from = max(window.from ?? lastPresented, lastPresented + .microseconds(1))
        }
        decoder = nil
        lastDecoded = nil
        isUndecodable = false
        isDecoderStuck = false
        isOver = false
        parameterSets = start.parameterSets
        isTakerNew = true
        silence.interrupt()
        openDecoder(renderer.currentMode)
        if renderer.dispatcher.registry.writersWantSamples(of: track.mediaType) {
            renderer.dispatcher.lockstep?.join(track.mediaType)
        }
        await attempt { dispatcher throws(HLSError) in try await dispatcher.begin(track, at: start.time) }
    }

    /// Restarts the decoder: its contents were needed only for samples that were skipped.
    private mutating func beginAnew() {
        guard decoder != nil else { return }
        decoder = nil
        sought.forgetCandidate()
        optionalPictures = OptionalPictures()
        silence.interrupt()
        openDecoder(renderer.currentMode)
    }

    private mutating func openDecoder(_ mode: TrackRenderer.Mode) {
        guard let track, let threadCount = mode.decodingThreadCount, !isUndecodable else { return }
        do {
            decoder = try renderer.makeDecoder(track, threadCount)
            isDecoderNew = true
        } catch {
            isUndecodable = true
            let cause = "\(track.codec.rawValue) cannot be decoded"
            renderer.report(
                .failed(HLSError(code: .badMedia, cause: cause, detail: "\(error)", underlyingError: error)))
        }
    }

    /// Called when outputs change. Opens a decoder at the next sync sample, or closes it.
    private mutating func adjustDecoder(to mode: TrackRenderer.Mode, at sample: MediaSample) async {
        if mode.decodingThreadCount == nil {
            guard decoder != nil else { return }
            decoder = nil
            pending = []
            beyond.forgetMedia()
            await handOverCopies(upTo: nil)
            optionalPictures = OptionalPictures()
        } else if decoder == nil, sample.isSync {
            openDecoder(mode)
        }
    }

    /// Stores the seek target. The first run after the seek contains it.
    private mutating func aim(at landing: Landing?) {
        guard let landing, self.landing == nil else { return }
        self.landing = landing
        guard case .exact(let time) = landing, track?.mediaType == .video,
            renderer.currentMode.decodingThreadCount != nil
        else { return }
        // The frame shown at this time starts before it.
        sought.seek(time)
        window.from = nil
    }

    private mutating func notePrimed(_ first: Duration?) {
        guard !isPrimed else { return }
        isPrimed = true
        renderer.report(.primed(generation: generation, first: first))
    }

    private mutating func decode(_ sample: MediaSample, offset: Duration, isCopied: Bool) async {
        let mode = renderer.currentMode
        let isOfNoUse = isAllBeyond
        self.offset = offset
        if !isOfNoUse {
            await adjustDecoder(to: mode, at: sample)
            if isDecoderStuck, sample.isSync { await nudgeDecoder() }
            if mode.passesSamples, !isCopied { await take(sample) }
        }
        if isOfNoUse || isOverAtBreak {
            if !isOfNoUse { await handOverCopies(upTo: nil) }
            beyond.keep(
                .sample(sample, offset: offset), isCopied: isCopied || !isOfNoUse && mode.passesSamples)
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
                let isFirst = isDecoderNew
                isDecoderNew = false
                try decoder.decode(isFirst ? completed(sample) : sample, to: &frames)
            case .audio(let decoder):
                isSilent = true
                try decoder.decode(sample, to: &buffers)
            case nil:
                guard !mode.passesSamples else { return }
                notePrimed(nil)
                noteUntaken(sample)
                noteConsumed(sample, offset: offset)
                return
            }
        } catch {
            note(error)
            silence.noteFailure()
        }
        if !frames.isEmpty || !buffers.isEmpty {
            silence.end()
        } else if isSilent {
            noteDecoderSilence(at: sample)
        }
        await deliver(frames)
        await deliver(buffers)
        if window.isStill {
            await drain()
            decoder = nil
        }
        noteSilence(after: sample)
        await limitHeldCopies()
        noteConsumed(sample, offset: offset)
    }

    /// Adds the parameter sets to a decoder's first sample if the sample does not contain them.
    private func completed(_ sample: MediaSample) -> MediaSample {
        guard !parameterSets.isEmpty, let track, PictureParameterSets.areMissing(in: sample, of: track) else {
            return sample
        }
        return PictureParameterSets.prepend(parameterSets, to: sample)
    }

    private mutating func noteDecoderSilence(at sample: MediaSample) {
        guard let track else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        switch silence.goesOn(at: time) {
        case .nudge: isDecoderStuck = true
        case .tell:
            renderer.report(.silent(silenceError, isAll: false))
            notePrimed(nil)
        case nil: break
        }
        // Time continues over undecodable media, also at the end.
        if silence.isTold { noteUntaken(sample) }
    }

    /// Restarts a decoder without output, unless draining it produces output.
    private mutating func nudgeDecoder() async {
        isDecoderStuck = false
        if !sought.isSought { await drain() }
        guard silence.start != nil else { return }
        renderer.report(.damaged("\(silenceError.cause) (\(silenceError.detail ?? "")): the decoder was restarted"))
        beginAnew()
    }

    private var silenceError: HLSError {
        let kind = track?.mediaType == .audio ? "audio" : "video"
        let start = ((silence.start ?? .zero).seconds * 1000).rounded() / 1000
        return HLSError(
            code: .badMedia, cause: "no \(kind) can be decoded",
            detail: "\(track?.codec.rawValue ?? "media") from \(start) s on")
    }

    /// Advances the end over media without an output or without decoder output, so that the item ends with its media.
    private mutating func noteUntaken(_ sample: MediaSample) {
        guard renderer.clock.isPaced, let track else { return }
        let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
        let length = ItemTimeline.duration(sample.duration, track.timescale)
        if isInside(time, length, isVideo: track.mediaType == .video) { end = max(end, time + length) }
    }

    /// Ends the wait for the first media if it cannot be decoded.
    private mutating func noteSilence(after sample: MediaSample) {
        guard !isPrimed, !window.isStill, let track, let from = landing?.time ?? window.from else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        if time - from > Self.longestSilence { notePrimed(nil) }
    }

    /// Reduces the work of a late decoder, but not before the first frame, which needs all earlier frames.
    private mutating func mayDecode(_ sample: MediaSample, with decoder: any VideoDecoding) async -> Bool {
        guard renderer.clock.isPaced, !window.isStill, lastPresented != nil, let track else {
            // A third to a half of the frames before the first shown one are unreferenced.
            decoder.skipsUnreferencedPictures = isPassedOver && !window.isStill
            return true
        }
        let lateness = renderer.clock.now - ItemTimeline.duration(sample.dts, track.timescale) - offset
        let previous = effort.last
        let step = effort.step(isSync: sample.isSync, lateness: lateness)
        decoder.skipsUnreferencedPictures = step == .decodeReferences
        switch step {
        case .decode: break
        case .decodeReferences: optionalPictures.add(sample.pts)
        case .skip:
            // Frames in the decoder may still come out. The next decoded sample starts again.
            if previous != .skip { await drain() }
            renderer.count { $0.droppedFrames += 1 }
        }
        return step != .skip
    }

    /// Counts frames that the decoder has skipped: no frame before `pts` will be decoded anymore.
    private mutating func noteOptionalPictures(upTo pts: Int64) {
        let dropped = optionalPictures.takeSkipped(upTo: pts)
        if dropped > 0 { renderer.count { $0.droppedFrames += dropped } }
    }

    /// Reports media as presented without a clock, even if decoding produced nothing.
    ///
    /// Otherwise, the player would wait forever for undecodable frames.
    private mutating func noteConsumed(_ sample: MediaSample, offset: Duration) {
        guard !renderer.clock.isPaced, let track else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        if let reported, time - reported < Self.reportInterval * 2 { return }
        reported = time
        renderer.report(.presented(upTo: time))
    }

    private mutating func drain() async {
        var frames: [VideoFrame] = []
        var buffers: [AudioBuffer] = []
        do {
            switch decoder {
            case .video(let decoder): try decoder.drain(to: &frames)
            case .audio(let decoder): try decoder.drain(to: &buffers)
            case nil: return
            }
        } catch {
            note(error)
        }
        if !frames.isEmpty || !buffers.isEmpty { silence.end() }
        await deliver(frames)
        await deliver(buffers)
        // If no frame follows, the held frame is the one shown at the seek target.
        if let last = sought.takeLast() { await land(on: last) }
        noteOptionalPictures(upTo: .max)
    }

    /// Counts a damaged sample. The first error of each kind is also reported with its text.
    private mutating func note(_ error: CodecError) {
        renderer.count { $0.damagedSamples += 1 }
        guard damage.count < Self.mostKindsOfDamage, damage.insert(error).inserted else { return }
        renderer.report(.damaged("\(track?.codec.rawValue ?? renderer.mediaType.rawValue): \(error)"))
    }

    private mutating func deliver(_ frames: [VideoFrame]) async {
        for frame in frames {
            noteOptionalPictures(upTo: frame.pts)
            guard shown.shows(pictureAt: frame.pts) else { continue }
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

    private mutating func land(on picture: DecodedMedia) async {
        await queue(picture.content, at: picture.time, length: picture.length, isInside: true)
    }

    private mutating func deliver(_ buffers: [AudioBuffer]) async {
        for buffer in buffers.flatMap({ trimmed($0) }).compactMap({ cut($0) }) {
            var (buffer, time) = (buffer, ItemTimeline.duration(buffer.pts, buffer.timescale) + offset)
            let cut = SoundCut(limit.bound(window)).cut(
                time: time, frameCount: buffer.frameCount, sampleRate: buffer.sampleRate)
            if let cut {
                do throws(CodecError) {
                    try keepBeyond(buffer, at: time, trailing: cut.trailing)
                    buffer = try buffer.trimmed(leading: cut.leading, trailing: cut.trailing)
                    time += Duration.seconds(1) * cut.leading / max(1, buffer.sampleRate)
                } catch {
                    note(error)
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
            return await passOver(media)
        }
        await enqueue(media, at: time, length: length)
    }

    /// Handles media outside the window.
    private mutating func passOver(_ media: DecodedMedia) async {
        guard let until = limit.bound(window).until, media.time >= until else { return }
        if isBoundByBreak { beyond.keep(media) }
        guard !isOver else { return }
        isOver = true
        // Media is in presentation order, so all frames before the limit have been decoded.
        await presentAll()
        // Stop reading until the break starts, because it may still be cancelled.
        if isBoundByBreak, renderer.clock.isPaced { _ = await waitUntilDue(until, isHeard: media.isAudio) }
    }

    private var isBoundByBreak: Bool { limit.until != nil && limit.until == limit.bound(window).until }
    /// Whether the decoder's output is past the start of a break.
    private var isOverAtBreak: Bool { isOver && decoder != nil && isBoundByBreak }
    /// Whether all media that is read is past the start of a break, for every output.
    private var isAllBeyond: Bool {
        guard isBoundByBreak else { return false }
        if beyond.hasUnreadTrack { return true }
        let isCopied = renderer.currentMode.passesSamples && !limit.isPassed
        return decoder == nil ? limit.isPassed : isOver && !isCopied
    }

    /// Processes the media that was held back if the break was cancelled or has moved.
    mutating func followLimit() async {
        let until = renderer.currentMode.until
        guard limit.until != until else { return }
        limit = MediaLimit(until: until)
        isOver = false
        let held = beyond.take()
        heldCopies = held.copies + heldCopies
        if decoder == nil { await handOverCopies(upTo: nil) }
        for media in held.media.sorted(by: { $0.time < $1.time }) {
            if limit.bound(window).until.map({ media.time >= $0 }) ?? false {
                await passOver(media)
            } else {
                await enqueue(media.content, at: media.time, length: media.length)
            }
        }
        let isOfItemInHand = isPassedOver
        isPassedOver = false
        for unread in held.unread where renderer.isCurrent(generation) {
            await process(unread.item, isCopied: unread.isCopied)
        }
        isPassedOver = isOfItemInHand
    }

    /// Called when media from `time` on is replaced. Drops it from the media that was held back.
    mutating func truncate(from time: Duration) {
        guard let track else { return }
        beyond.truncate(from: time, timescale: track.timescale)
    }

    /// Keeps the end of an audio buffer that crosses the limit.
    private mutating func keepBeyond(_ buffer: AudioBuffer, at time: Duration, trailing count: Int) throws(CodecError) {
        guard count > 0, isBoundByBreak, beyond.hasRoomForMedia else { return }
        let leading = buffer.frameCount - count
        let rate = max(1, buffer.sampleRate)
        beyond.keep(
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
        notePrimed(time)
        while pending.count > decodedAhead || isFirstDue { await presentFirst() }
    }

    private func prepare(_ media: DecodedMedia.Content) {
        switch media {
        case .video(let frame): renderer.dispatcher.prepare(frame, generation: clockGeneration)
        case .audio(let buffer): renderer.dispatcher.prepare(buffer, generation: clockGeneration)
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
            let lastPresented, time - lastPresented < Self.longestPicture
        else { return false }
        renderer.count { $0.droppedFrames += 1 }
        return true
    }

    /// Whether a frame would be shown after a later one.
    ///
    /// This happens if a server has the same media under two names. Consecutive frames with the same time are all
    /// shown, because their duration is 0.
    private mutating func isAgain(_ media: DecodedMedia.Content, at time: Duration) -> Bool {
        guard !window.isStill, case .video = media else { return false }
        let isBesideLast = lastDecoded == time
        lastDecoded = time
        guard let last = pending.last?.time ?? lastPresented, time <= last, !(isBesideLast && time == last) else {
            return false
        }
        renderer.count { $0.droppedFrames += 1 }
        return true
    }

    var hasPending: Bool { !pending.isEmpty }

    /// Whether the first frame can be decoded before a second sample arrives.
    ///
    /// This is not used with a clock, because waiting for the time of this frame would delay the decoding of later
    /// ones.
    var hasFirstPicture: Bool {
        guard !renderer.clock.isPaced, !window.isStill, case .video(let decoder) = decoder else { return false }
        return decoder.hasFirstPicture
    }

    /// Called when no sample is available.
    mutating func useIdleTime() async {
        guard hasFirstPicture, case .video(let decoder) = decoder else { return await presentFirst() }
        var frames: [VideoFrame] = []
        decoder.decodeFirstPicture(to: &frames)
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
        if let until = renderer.currentMode.until, next.time >= until { return beyond.keep(next) }
        await handOverCopies(upTo: next.time)
        let generation = clockGeneration
        switch next.content {
        case .video(let frame):
            await attempt { dispatcher throws(HLSError) in try await dispatcher.write(frame, generation: generation)
            }
        case .audio(let buffer):
            await attempt { dispatcher throws(HLSError) in try await dispatcher.write(buffer, generation: generation)
            }
        }
        handedOver(next.time, next.length)
    }

    /// Returns the buffer without the padding that the encoder added.
    private mutating func trimmed(_ buffer: AudioBuffer) -> [AudioBuffer] {
        let parts = trimmer.parts(ofNext: buffer.frameCount)
        if parts == [0..<buffer.frameCount] { return [buffer] }
        do throws(CodecError) {
            var buffers: [AudioBuffer] = []
            for part in parts {
                buffers.append(
                    try buffer.trimmed(leading: part.lowerBound, trailing: buffer.frameCount - part.upperBound))
            }
            return buffers
        } catch {
            note(error)
            return []
        }
    }

    /// Returns the part of the buffer that the file's edit list shows.
    private mutating func cut(_ buffer: AudioBuffer) -> AudioBuffer? {
        let part = shown.part(
            ofSoundAt: buffer.pts, frameCount: buffer.frameCount, sampleRate: buffer.sampleRate,
            timescale: buffer.timescale)
        if part.count == buffer.frameCount { return buffer }
        guard !part.isEmpty else { return nil }
        do throws(CodecError) {
            return try buffer.trimmed(leading: part.lowerBound, trailing: buffer.frameCount - part.upperBound)
        } catch {
            note(error)
            return nil
        }
    }

    /// Copies a sample when it is due or, if it is also decoded, together with the decoded media.
    private mutating func take(_ sample: MediaSample) async {
        guard let track, shown.copies(sample, of: track.mediaType) else { return }
        let copy = HeldCopy(
            sample: sample,
            timing: CopySelection.Timing(
                decoding: ItemTimeline.duration(sample.dts, track.timescale) + offset,
                presentation: ItemTimeline.duration(sample.pts, track.timescale) + offset,
                length: ItemTimeline.duration(sample.duration, track.timescale)),
            offset: offset)
        if decoder != nil, renderer.clock.isPaced, !window.isStill {
            heldCopies.append(copy)
        } else {
            await handOverCopies(upTo: nil)
            await pass(copy)
        }
    }

    /// Delivers the held samples that are decoded at or before `time`, or all of them if it is `nil`.
    private mutating func handOverCopies(upTo time: Duration?) async {
        while let first = heldCopies.first, time.map({ first.timing.decoding <= $0 }) ?? true {
            heldCopies.removeFirst()
            await pass(first)
        }
    }

    /// Limits how long a decoder with little or unpresented output can delay held samples.
    private mutating func limitHeldCopies() async {
        while isPrimed, let first = heldCopies.first, let last = heldCopies.last,
            last.timing.decoding - first.timing.decoding > Self.longestHeldCopies
        {
            heldCopies.removeFirst()
            await pass(first)
        }
    }

    private mutating func pass(_ copy: HeldCopy) async {
        guard let track else { return }
        let (sample, timing, offset) = (copy.sample, copy.timing, copy.offset)
        if decoder == nil { renderer.count { $0.decodedFrames += 1 } }
        let isBehindBreak = !limit.takes(sample, timing, isVideo: track.mediaType == .video)
        switch isBehindBreak ? .outside : copies.judge(sample, timing) {
        case .wanted: break
        case .dropped: return
        case .outside:
            if isBehindBreak { beyond.keep(copy) }
            // No earlier sample will be written, even if this one is not written either.
            _ = renderer.dispatcher.lockstep?.isNext(timing.decoding, of: track.mediaType)
            return
        }
        if decoder == nil { notePrimed(timing.presentation) }
        guard await waitUntilDue(timing.decoding) else { return }
        await renderer.dispatcher.lockstep?.wait(for: timing.decoding, of: track.mediaType)
        // A break may have been set or moved in the meantime.
        guard renderer.currentMode.until == limit.until else { return beyond.keep(copy) }
        let generation = clockGeneration
        for sample in copies.take(sample, timing) {
            let sample = limit.place(isTakerNew ? completed(sample) : sample, of: track, offset: offset)
            isTakerNew = false
            let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
            await attempt { dispatcher throws(HLSError) in
                try await dispatcher.write(sample, of: track, at: MediaTime(time), generation: generation)
            }
        }
        if decoder == nil { handedOver(max(timing.presentation, timing.decoding), timing.length) }
    }

    private func isInside(_ time: Duration, _ length: Duration, isVideo: Bool) -> Bool {
        if window.isEmpty { return false }
        if let from = window.from, isVideo ? time < from : time + length <= from { return false }
        return limit.bound(window).until.map { time < $0 } ?? true
    }

    /// Waits until `time` is due. Returns `false` if the media was flushed in the meantime.
    private func waitUntilDue(_ time: Duration, isHeard: Bool = false) async -> Bool {
        guard
            await renderer.clock.wait(
                until: time, isHeard: isHeard, generation: clockGeneration, waiter: ObjectIdentifier(renderer))
                == .due
        else { return false }
        if !renderer.clock.isPaced {
            await renderer.dispatcher.waitForReaders(of: renderer.mediaType, generation: clockGeneration)
        }
        guard
            // The reading position can change without a jump in time: media reloaded for a new output replaces the
            // decoded media.
            renderer.isCurrent(generation)
        else { return false }
        if renderer.clock.isPaced, !window.isStill {
            let lateness = renderer.clock.now - time
            renderer.count { $0.lateness = lateness }
        }
        return true
    }

    /// Counts losses of the outputs' readers. Reports them at intervals, not for each frame.
    private mutating func noteLosses(at time: Duration) {
        guard renderer.clock.isPaced else { return }
        let count = renderer.dispatcher.lostCount(of: renderer.mediaType)
        defer { lostCount = count }
        // Removed outputs take their losses with them.
        if count > lostCount {
            let new = count - lostCount
            renderer.count { $0.lostByReaders += new }
            untoldLosses += new
        }
        guard untoldLosses > 0, lossesTold.map({ abs(time - $0) >= Self.lossInterval }) ?? true else { return }
        renderer.report(.lostByReaders(untoldLosses))
        lossesTold = time
        untoldLosses = 0
    }

    private mutating func handedOver(_ time: Duration, _ length: Duration) {
        noteLosses(at: time)
        lastPresented = max(lastPresented ?? time, time)
        end = max(end, time + length)
        if let reported, end - reported < Self.reportInterval { return }
        reported = end
        renderer.report(.presented(upTo: end))
    }

    /// Calls the outputs. The first failure ends the player.
    private mutating func attempt(_ body: (OutputDispatcher) async throws(HLSError) -> Void) async {
        guard !hasFailed else { return }
        do {
            try await body(renderer.dispatcher)
        } catch {
            hasFailed = true
            renderer.report(.failed(error.ofItem))
        }
    }
}
