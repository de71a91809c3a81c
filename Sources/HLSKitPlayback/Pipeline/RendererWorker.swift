import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime

/// What the task of a ``TrackRenderer`` does: decodes samples in their order and hands over what comes out, when its time
/// has come.
struct RendererWorker {
    /// Video that leaves its decoder this late is not shown any more.
    private static let lateFrameTolerance = Duration.milliseconds(40)
    /// A picture stays no longer than this, however slow the decoder is.
    private static let longestPicture = Duration.milliseconds(500)
    /// Frames that are decoded ahead of their time, so that one that takes longer than the others comes in time.
    private static let decodedAhead: [MediaKind: Int] = [.video: 3, .audio: 8]
    /// Without a clock, how much media goes by between two reports.
    private static let reportInterval = Duration.milliseconds(200)
    /// Where nothing comes out of this much media there is nothing to wait for.
    private static let longestSilence = Duration.seconds(1)
    /// How far decoding may be ahead of the samples that are handed over beside it.
    private static let longestHeldCopies = Duration.seconds(1)

    /// Readers that are too slow are told of once in so much media.
    private static let lossInterval = Duration.seconds(10)

    /// A stream that is damaged in more ways than these says nothing new.
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
    /// The time of the picture that came out of the decoder last, of this run.
    private var lastDecoded: Duration?
    /// Where the last media that was handed over ends.
    private var end = Duration.zero
    private var reported: Duration?
    private var hasFailed = false
    /// Errors of decoders so far, one of each kind.
    private var damage: Set<CodecError> = []
    /// No decoder takes the track.
    private var isUndecodable = false
    /// Decoded and not presented yet, in the order of presentation.
    private var pending: [DecodedMedia] = []
    private let decodedAhead: Int
    private var effort = DecodingEffort()
    private var optionalPictures = OptionalPictures()
    private var copies = CopySelection()
    /// Decoded, and to be handed over undecoded when their time comes: a decoder gives nothing before it has some of those
    /// behind it, and no time passes before there is a picture.
    private var heldCopies: [HeldCopy] = []
    private var sought = SoughtPicture<DecodedMedia>()
    /// Where reading began after the last move, and whether the first media from there was told.
    private var landing: Landing?
    private var isPrimed = false
    /// What decoders of the track have to know, and whether the next sample is a decoder's, or a taker's, first.
    private var parameterSets: [UInt8] = []
    private var isDecoderNew = true
    private var isTakerNew = true
    private var silence = DecoderSilence()
    /// The decoder gives nothing and begins anew with the next sync sample.
    private var isDecoderStuck = false
    /// The sample in hand is not shown: it only leads up to what is.
    var isPassedOver = false
    /// Media has come that is presented after the end of the window: of the run nothing more is.
    private var isOver = false
    /// A break begins there: what is presented later is left away, whatever the window.
    private var limit = MediaLimit()
    /// What readers of outputs' sequences had lost when it was asked last, what of it was not told, and when some was.
    private var lostCount = 0
    private var untoldLosses = 0
    private var lossesTold: Duration?
    /// Media of behind the limit: the break may be called off.
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

    /// - Parameter isCopied: outputs that take samples undecoded have had it.
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
            // A decoder that is drained cannot go on. Should more come after all, one is opened at the next sync sample.
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

    /// What is inside of the decoder only led up to samples that were left away.
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

    /// Outputs come and go: decodes from the next sync sample on, or no longer.
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

    /// Takes note of where reading goes on after a seek; the first run that is read tells.
    private mutating func aim(at landing: Landing?) {
        guard let landing, self.landing == nil else { return }
        self.landing = landing
        guard case .exact(let time) = landing, track?.mediaType == .video,
            renderer.currentMode.decodingThreadCount != nil
        else { return }
        // The picture that is shown at this time began before it.
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

    /// The first sample of a decoder with what that has to know, where the sample does not tell.
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
        // Time runs on over what is lost, also at the end.
        if silence.isTold { noteUntaken(sample) }
    }

    /// A decoder that gives nothing is replaced, unless what is inside of it comes out.
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

    /// Media that nobody takes, or of which nothing comes, is over where it ends, not where outputs were left.
    private mutating func noteUntaken(_ sample: MediaSample) {
        guard renderer.clock.isPaced, let track else { return }
        let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
        let length = ItemTimeline.duration(sample.duration, track.timescale)
        if isInside(time, length, isVideo: track.mediaType == .video) { end = max(end, time + length) }
    }

    /// Nobody waits for media of a stretch that cannot be decoded.
    private mutating func noteSilence(after sample: MediaSample) {
        guard !isPrimed, !window.isStill, let track, let from = landing?.time ?? window.from else { return }
        let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
        if time - from > Self.longestSilence { notePrimed(nil) }
    }

    /// Spares a decoder that has fallen behind. Not before a first picture: what leads up to it has to be decoded.
    private mutating func mayDecode(_ sample: MediaSample, with decoder: any VideoDecoding) async -> Bool {
        guard renderer.clock.isPaced, !window.isStill, lastPresented != nil, let track else {
            // A third to a half of what leads up to a picture is needed by no other.
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
            // What is inside may come out; the sample that follows next begins anew.
            if previous != .skip { await drain() }
            renderer.count { $0.droppedFrames += 1 }
        }
        return step != .skip
    }

    /// Counts pictures that the decoder has skipped: those before `pts` will not come any more.
    private mutating func noteOptionalPictures(upTo pts: Int64) {
        let dropped = optionalPictures.takeSkipped(upTo: pts)
        if dropped > 0 { renderer.count { $0.droppedFrames += dropped } }
    }

    /// Without a clock, what was taken counts as presented, although nothing may have come of it: the player would
    /// wait for ever for pictures of a stretch that cannot be decoded.
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
        // Nothing follows the picture that is shown at the time sought.
        if let last = sought.takeLast() { await land(on: last) }
        noteOptionalPictures(upTo: .max)
    }

    /// A sample is damaged. The first error of each kind is reported with its text.
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

    /// Presents the picture that a seek was looking for.
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

    /// Media that is not presented, or not yet.
    private mutating func passOver(_ media: DecodedMedia) async {
        guard let until = limit.bound(window).until, media.time >= until else { return }
        if isBoundByBreak { beyond.keep(media) }
        guard !isOver else { return }
        isOver = true
        // Media comes in the order of presentation: what was decoded before is all there is.
        await presentAll()
        // Nothing more is read before the break is there: it may be called off.
        if isBoundByBreak, renderer.clock.isPaced { _ = await waitUntilDue(until, isHeard: media.isAudio) }
    }

    /// What ends the window is a break.
    private var isBoundByBreak: Bool { limit.until != nil && limit.until == limit.bound(window).until }
    /// What comes of the decoder lies behind a break.
    private var isOverAtBreak: Bool { isOver && decoder != nil && isBoundByBreak }
    /// All that is read lies behind a break, for whoever takes it.
    private var isAllBeyond: Bool {
        guard isBoundByBreak else { return false }
        if beyond.hasUnreadTrack { return true }
        let isCopied = renderer.currentMode.passesSamples && !limit.isPassed
        return decoder == nil ? limit.isPassed : isOver && !isCopied
    }

    /// Takes up what was passed over where the break was called off, or is elsewhere now.
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

    /// Media from `time` on is replaced: what was passed over of it is not to be taken up.
    mutating func truncate(from time: Duration) {
        guard let track else { return }
        beyond.truncate(from: time, timescale: track.timescale)
    }

    /// Keeps the end of a piece of sound that lies behind the limit.
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

    /// Lets outputs see media ahead of its time.
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

    /// Whether the decoder has fallen so far behind that its picture is of the past. Then it is counted and not
    /// shown, unless nothing was shown for a while.
    private mutating func isTooLate(_ media: DecodedMedia.Content, at time: Duration) -> Bool {
        guard renderer.clock.isPaced, !window.isStill, case .video = media,
            renderer.clock.now - time > Self.lateFrameTolerance,
            let lastPresented, time - lastPresented < Self.longestPicture
        else { return false }
        renderer.count { $0.droppedFrames += 1 }
        return true
    }

    /// A picture is not shown after a later one: a server that gives the same media twice, under two names, is no reason to
    /// go back. Pictures that follow one another at one time, as they last 0 s, are each shown.
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

    /// The picture that all begins with can come out before there is a second sample. Not under a clock: who waits
    /// for the time of this picture does not decode those after it.
    var hasFirstPicture: Bool {
        guard !renderer.clock.isPaced, !window.isStill, case .video(let decoder) = decoder else { return false }
        return decoder.hasFirstPicture
    }

    /// No sample is there to be decoded.
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

    /// Hands over the first decoded frame when its time has come.
    mutating func presentFirst() async {
        guard !pending.isEmpty else { return }
        let next = pending.removeFirst()
        guard await waitUntilDue(next.time, isHeard: next.isAudio) else { return }
        // A break may have been set since it was decoded.
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

    /// Without what the encoder has added to the sound.
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

    /// Without what the file's edit list does not show.
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

    /// Hands over a sample undecoded: when its time has come, or, where it is decoded too, with what is decoded.
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

    /// Of what is held, all that is decoded before `time`, or all.
    private mutating func handOverCopies(upTo time: Duration?) async {
        while let first = heldCopies.first, time.map({ first.timing.decoding <= $0 }) ?? true {
            heldCopies.removeFirst()
            await pass(first)
        }
    }

    /// A decoder that gives little, or what is not presented, keeps samples from their writers no longer than this.
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
            // Nothing of before is to be written any more, whatever is behind it.
            _ = renderer.dispatcher.lockstep?.isNext(timing.decoding, of: track.mediaType)
            return
        }
        if decoder == nil { notePrimed(timing.presentation) }
        guard await waitUntilDue(timing.decoding) else { return }
        await renderer.dispatcher.lockstep?.wait(for: timing.decoding, of: track.mediaType)
        // A break may have been set, or moved, meanwhile.
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

    /// Whether media is to be presented at all.
    private func isInside(_ time: Duration, _ length: Duration, isVideo: Bool) -> Bool {
        if window.isEmpty { return false }
        if let from = window.from, isVideo ? time < from : time + length <= from { return false }
        return limit.bound(window).until.map { time < $0 } ?? true
    }

    /// Waits until `time` has come. False where the media was flushed meanwhile.
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
            // Without a jump in time, too: media that is loaded again for who came late replaces what was decoded.
            renderer.isCurrent(generation)
        else { return false }
        if renderer.clock.isPaced, !window.isStill {
            let lateness = renderer.clock.now - time
            renderer.count { $0.lateness = lateness }
        }
        return true
    }

    /// Counts what readers have lost, and tells it: not again for each frame.
    private mutating func noteLosses(at time: Duration) {
        guard renderer.clock.isPaced else { return }
        let count = renderer.dispatcher.lostCount(of: renderer.mediaType)
        defer { lostCount = count }
        // Outputs may have gone, with what their readers have lost.
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

    /// Lets the outputs work; the first failure ends the player.
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
