import HLSMedia
import HLSTime
import Synchronization

/// Takes the samples of one kind of media, decodes them and hands the result to the outputs when its time has come.
///
/// Each has one task, which drives libavcodec and may block in an output: that is the back-pressure of playing without
/// a clock. So it runs on a thread of its own, but where the player's clock is an executor, on that. Outputs that take
/// samples get them without a decoder.
final class TrackRenderer: Sendable {
    /// What is done with samples.
    struct Mode: Sendable {
        /// Threads that libavcodec may use, 0 for one per core; nil decodes nothing.
        var decodingThreadCount: Int?
        var passesSamples = false
    }

    /// What a renderer tells its player.
    enum Report: Sendable {
        /// Everything up to this item time was handed to the outputs.
        case presented(upTo: Duration)
        /// The end of this number was reached; the last media ends at this item time.
        case drained(end: Duration, number: Int)
        /// After so many moves of the reading place, the first media to be presented is decoded, or there is nothing to
        /// wait for. `first` is its item time.
        case primed(generation: Int, first: Duration?)
        /// Nothing comes out of the decoder for a while; `isAll`: nothing has, from where it began to the end.
        case silent(PlayerError, isAll: Bool)
        case failed(PlayerError)
    }

    private struct Queue {
        var store: SampleStore
        /// Counts the moves of the reading place: what was read before the last one is let go.
        var generation = 0
        var isStopped = false
    }

    let mediaType: MediaType
    private let mode: Mutex<Mode>
    private let clock: PresentationClock
    private let hub: OutputDispatcher
    private let counts: RendererCounters
    private let report: @Sendable (Report) -> Void
    private let queue: Gate<Queue>
    private let exit = OneShot<Void>()

    /// Video that leaves its decoder this late is not shown any more.
    private static let lateFrameTolerance = Duration.milliseconds(40)
    /// A picture stays no longer than this, however slow the decoder is.
    private static let longestPicture = Duration.milliseconds(500)
    /// Frames that are decoded ahead of their time, so that one that takes longer than the others comes in time.
    private static let decodedAhead: [MediaType: Int] = [.video: 3, .audio: 8]
    /// Without a clock, how much media goes by between two reports.
    private static let reportInterval = Duration.milliseconds(200)
    /// Where nothing comes out of this much media there is nothing to wait for.
    private static let longestSilence = Duration.seconds(1)

    init(
        mediaType: MediaType, mode: Mode, store: SampleStore, clock: PresentationClock, hub: OutputDispatcher,
        counts: RendererCounters, report: @escaping @Sendable (Report) -> Void
    ) {
        queue = Gate(Queue(store: store))
        self.mediaType = mediaType
        self.mode = Mutex(mode)
        self.clock = clock
        self.hub = hub
        self.counts = counts
        self.report = report
    }

    /// Does something else with samples from the next one on; decoding begins at the next sync sample.
    func setMode(_ mode: Mode) {
        self.mode.withLock { $0 = mode }
    }

    /// Starts the task, on a thread of its own unless there is an executor.
    func start(on executor: (any TaskExecutor)?) {
        let thread = executor == nil ? ThreadExecutor() : nil
        guard let executor = executor ?? thread else {
            exit.set(())
            report(.failed(PlayerError(code: .internal, cause: "no thread to decode \(mediaType.rawValue)")))
            return
        }
        Task(executorPreference: executor) { [self] in
            await run()
            exit.set(())
            thread?.finish()
        }
    }

    func enqueue(_ elements: [SampleStore.Element]) {
        guard !elements.isEmpty else { return }
        change { queue in
            queue.store.append(elements)
            hub.lockstep?.setIdle(false, mediaType)
        }
    }

    /// Forgets all media; what comes next is presented from `landing` on.
    func flush(to landing: Landing) {
        change { queue in
            queue.store.removeAll(landing: landing)
            queue.generation += 1
        }
    }

    /// Forgets all media, without a jump in time.
    func restart(from landing: Landing) {
        flush(to: landing)
        clock.cancelWait(of: ObjectIdentifier(self))
    }

    /// Presents once more what is held, from `landing` on.
    func reposition(to landing: Landing) {
        change { queue in
            queue.store.reposition(to: landing)
            queue.generation += 1
        }
    }

    /// Drops what was presented and is not needed from `time` on.
    func evict(before time: Duration) {
        change { $0.store.evict(before: time) }
    }

    /// Media from `time` on is not to be presented, as far as it was not decoded yet.
    func truncate(from time: Duration) {
        change { $0.store.truncate(from: time) }
    }

    /// As ``SampleStore/time(stepping:from:)``.
    func time(stepping count: Int, from time: Duration) -> Duration? {
        queue.withLock { $0.store.time(stepping: count, from: time) }
    }

    /// The reading place was not moved since.
    private func isCurrent(_ generation: Int) -> Bool { queue.withLock { $0.generation == generation } }

    /// Holds no media at all.
    var isEmpty: Bool { queue.withLock { $0.store.isEmpty } }

    private func change(_ body: (inout Queue) -> Void) {
        queue.signal { queue in
            let before = queue.store.byteCount
            body(&queue)
            counts.noteHeld(queue.store.byteCount - before)
        }
    }

    /// Ends the task as soon as it has finished with the output that it is in.
    func stop() {
        change { queue in
            queue.isStopped = true
            queue.store.removeAll(landing: nil)
            hub.lockstep?.end(mediaType)
        }
    }

    /// Returns when the task works no longer.
    func waitUntilStopped() async { await exit.value() }

    // MARK: The task

    private func run() async {
        var worker = Worker(renderer: self)
        while true {
            switch await next(isIdleAllowed: worker.hasPending || worker.hasFirstPicture) {
            case .item(let item, let generation, let isPassedOver):
                if generation != worker.generation { worker.reset(to: generation) }
                worker.isPassedOver = isPassedOver
                await worker.process(item)
            case .nothing: await worker.useIdleTime()
            case .stop: return
            }
        }
    }

    private enum Next {
        /// `isPassedOver`: as of ``SampleStore/isPassedOver(_:)``.
        case item(SampleStore.Item, generation: Int, isPassedOver: Bool)
        case nothing
        case stop
    }

    /// The next item; waits for one unless there is something else to do.
    private func next(isIdleAllowed: Bool) async -> Next {
        await queue.wait { queue -> Next? in
            if queue.isStopped { return .stop }
            let before = queue.store.byteCount
            guard let item = queue.store.next() else {
                hub.lockstep?.setIdle(true, mediaType)
                return isIdleAllowed ? .nothing : nil
            }
            counts.noteHeld(queue.store.byteCount - before)
            return .item(
                item, generation: queue.generation, isPassedOver: queue.store.isPassedOver(item))
        }
    }

    private func count(_ body: (inout RendererCounters.Media) -> Void) {
        counts.count(mediaType, body)
    }

    /// The state of the task.
    private struct Worker {
        private enum Decoder {
            case video(VideoDecoder)
            case audio(AudioDecoder)
        }

        private let renderer: TrackRenderer
        private(set) var generation = 0
        private var clockGeneration: Int
        private var track: MediaTrack?
        private var decoder: Decoder?
        private var window = PresentationWindow()
        private var offset = Duration.zero
        private var trimmer = GaplessTrimmer()
        private var shown = ShownMedia()
        private var lastPresented: Duration?
        /// Where the last media that was handed over ends.
        private var end = Duration.zero
        private var reported = Duration.seconds(Int64.min / 4)
        private var hasFailed = false
        /// No decoder takes the track.
        private var isUndecodable = false
        /// Decoded and not presented yet, in the order of presentation.
        private var pending: [Pending] = []
        private let decodedAhead: Int
        private var effort = DecodingEffort()
        /// Presentation times of samples that may come out without a picture, because the decoder may skip them.
        private var optionalPictures: [Int64] = []
        private var copies = CopySelection()
        /// The item time that is to be shown, until the picture of it was found.
        private var target: Duration?
        private var candidate: Pending?
        /// Where reading began after the last move, and whether the first media from there was told.
        private var landing: Landing?
        private var isPrimed = false
        /// What decoders of the track have to know, and whether the next sample is a decoder's, or a taker's, first.
        private var parameterSets: [UInt8] = []
        private var isDecoderNew = true
        private var isTakerNew = true
        private var silence = DecoderSilence()
        /// The sample in hand is not shown: it only leads up to what is.
        var isPassedOver = false
        /// Media has come that is presented after the end of the window: of the run nothing more is.
        private var isOver = false

        private enum Media {
            case video(VideoFrame)
            case audio(AudioBuffer)

            func placed(at itemTime: MediaTime) -> Media {
                switch self {
                case .video(let frame): .video(frame.placed(at: itemTime))
                case .audio(let buffer): .audio(buffer.placed(at: itemTime))
                }
            }
        }

        private struct Pending {
            var media: Media
            var time: Duration
            var length: Duration

            var isSound: Bool {
                if case .audio = media { true } else { false }
            }
        }

        init(renderer: TrackRenderer) {
            self.renderer = renderer
            decodedAhead = renderer.clock.isPaced ? TrackRenderer.decodedAhead[renderer.mediaType] ?? 0 : 0
            clockGeneration = renderer.clock.generation
        }

        mutating func reset(to generation: Int) {
            self.generation = generation
            clockGeneration = renderer.clock.generation
            decoder = nil
            track = nil
            pending = []
            lastPresented = nil
            effort = DecodingEffort()
            optionalPictures = []
            copies = CopySelection()
            reported = .seconds(Int64.min / 4)
            target = nil
            candidate = nil
            landing = nil
            isPrimed = false
            silence = DecoderSilence()
            isOver = false
        }

        mutating func process(_ item: SampleStore.Item) async {
            switch item {
            case .track(let start): await begin(start)
            case .skipped: beginAnew()
            case .sample(let sample, let offset): await decode(sample, offset: offset)
            case .end(let number):
                await drain()
                notePrimed(nil)
                await presentAll()
                if silence.isOfAll { renderer.report(.silent(silenceError, isAll: true)) }
                renderer.hub.lockstep?.end(renderer.mediaType)
                renderer.hub.finish(renderer.mediaType, generation: clockGeneration)
                renderer.report(.drained(end: end, number: number))
            }
        }

        private mutating func begin(_ start: SampleStore.RunStart) async {
            await drain()
            await presentAll()
            let track = start.track
            self.track = track
            window = start.window
            aim(at: start.landing)
            copies.begin(track, in: window)
            trimmer = GaplessTrimmer(track.gapless)
            shown = ShownMedia(track.shownRange)
            trimmer.pass(start.skippedTicks, timescale: track.timescale, sampleRate: track.sampleRate)
            if window.dropsOverlap, let lastPresented {
                self.window.from = max(window.from ?? lastPresented, lastPresented + .microseconds(1))
            }
            decoder = nil
            isUndecodable = false
            isOver = false
            parameterSets = start.parameterSets
            isTakerNew = true
            silence.interrupt()
            openDecoder(renderer.mode.withLock(\.self))
            if renderer.hub.registry.writersWantSamples(of: track.mediaType) {
                renderer.hub.lockstep?.join(track.mediaType)
            }
            await attempt { hub throws(OutputError) in try await hub.begin(track) }
        }

        /// What is inside of the decoder only led up to samples that were left away.
        private mutating func beginAnew() {
            guard decoder != nil else { return }
            decoder = nil
            candidate = nil
            optionalPictures = []
            silence.interrupt()
            openDecoder(renderer.mode.withLock(\.self))
        }

        private mutating func openDecoder(_ mode: Mode) {
            guard let track, let threadCount = mode.decodingThreadCount, !isUndecodable else { return }
            do {
                decoder = try Self.makeDecoder(of: track, threadCount: threadCount)
                isDecoderNew = true
            } catch {
                isUndecodable = true
                let cause = "\(track.codec.rawValue) cannot be decoded"
                renderer.report(.failed(PlayerError(code: .badMedia, cause: cause, detail: "\(error)")))
            }
        }

        /// Outputs come and go: decodes from the next sync sample on, or no longer.
        private mutating func adjustDecoder(to mode: Mode, at sample: MediaSample) async {
            if mode.decodingThreadCount == nil {
                guard decoder != nil else { return }
                decoder = nil
                pending = []
                optionalPictures = []
            } else if decoder == nil, sample.isSync {
                openDecoder(mode)
            }
        }

        /// Takes note of where reading goes on after a seek; the first run that is read tells.
        private mutating func aim(at landing: Landing?) {
            guard let landing, self.landing == nil else { return }
            self.landing = landing
            guard case .exact(let time) = landing, track?.mediaType == .video,
                renderer.mode.withLock(\.decodingThreadCount) != nil
            else { return }
            // The picture that is shown at this time began before it.
            target = time
            window.from = nil
        }

        private mutating func notePrimed(_ first: Duration?) {
            guard !isPrimed else { return }
            isPrimed = true
            renderer.report(.primed(generation: generation, first: first))
        }

        private static func makeDecoder(of track: MediaTrack, threadCount: Int) throws(CodecError) -> Decoder? {
            switch track.mediaType {
            case .video: .video(try VideoDecoder(track: track, threadCount: threadCount))
            case .audio: .audio(try AudioDecoder(track: track))
            default: nil
            }
        }

        private mutating func decode(_ sample: MediaSample, offset: Duration) async {
            self.offset = offset
            let mode = renderer.mode.withLock(\.self)
            await adjustDecoder(to: mode, at: sample)
            if mode.passesSamples { await pass(sample) }
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
            guard silence.goesOn(at: time) else { return }
            renderer.report(.silent(silenceError, isAll: false))
            notePrimed(nil)
        }

        private var silenceError: PlayerError {
            let kind = track?.mediaType == .audio ? "sound" : "pictures"
            let start = ((silence.start ?? .zero).seconds * 1000).rounded() / 1000
            return PlayerError(
                code: .badMedia, cause: "no \(kind) can be decoded",
                detail: "\(track?.codec.rawValue ?? "media") from \(start) s on")
        }

        /// Media that nobody takes is over where it ends, not where outputs were left.
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
            if time - from > TrackRenderer.longestSilence { notePrimed(nil) }
        }

        /// Spares a decoder that has fallen behind. Not before a first picture: what leads up to it has to be decoded.
        private mutating func mayDecode(_ sample: MediaSample, with decoder: VideoDecoder) async -> Bool {
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
            case .decodeReferences: optionalPictures.append(sample.pts)
            case .skip:
                // What is inside may come out; the sample that follows next begins anew.
                if previous != .skip { await drain() }
                renderer.count { $0.droppedFrames += 1 }
            }
            return step != .skip
        }

        /// Counts pictures that the decoder has left away: those before `pts` will not come any more.
        private mutating func noteOptionalPictures(upTo pts: Int64) {
            guard !optionalPictures.isEmpty else { return }
            let dropped = optionalPictures.count { $0 < pts }
            optionalPictures.removeAll { $0 <= pts }
            if dropped > 0 { renderer.count { $0.droppedFrames += dropped } }
        }

        /// Without a clock, what was taken counts as presented, although nothing may have come of it: the player would
        /// wait for ever for pictures of a stretch that cannot be decoded.
        private mutating func noteConsumed(_ sample: MediaSample, offset: Duration) {
            guard !renderer.clock.isPaced, let track else { return }
            let time = ItemTimeline.duration(sample.dts, track.timescale) + offset
            guard time - reported >= TrackRenderer.reportInterval * 2 else { return }
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
            if let candidate {
                // Nothing follows the picture that is shown at the time sought.
                await land(on: candidate)
            }
            noteOptionalPictures(upTo: .max)
        }

        private func note(_ error: any Error) {
            renderer.count { $0.damagedSamples += 1 }
        }

        private mutating func deliver(_ frames: [VideoFrame]) async {
            for frame in frames {
                noteOptionalPictures(upTo: frame.pts)
                guard shown.shows(pictureAt: frame.pts) else { continue }
                let time = ItemTimeline.duration(frame.pts, frame.timescale) + offset
                let length = ItemTimeline.duration(frame.duration, frame.timescale)
                if let target {
                    let next = Pending(media: .video(frame), time: time, length: length)
                    if time <= target {
                        if candidate != nil { renderer.count { $0.decodedFrames += 1 } }
                        candidate = next
                        guard time + length > target else { continue }
                    }
                    let first = candidate
                    self.target = nil
                    candidate = nil
                    if let first { await land(on: first) }
                    if time <= target { continue }
                }
                await queue(.video(frame), at: time, length: length, isInside: isInside(time, length, isVideo: true))
            }
        }

        /// Presents the picture that a seek was looking for.
        private mutating func land(on picture: Pending) async {
            target = nil
            candidate = nil
            await queue(picture.media, at: picture.time, length: picture.length, isInside: true)
        }

        private mutating func deliver(_ buffers: [AudioBuffer]) async {
            for buffer in buffers.flatMap({ trimmed($0) }).compactMap({ cut($0) }) {
                var (buffer, time) = (buffer, ItemTimeline.duration(buffer.pts, buffer.timescale) + offset)
                let cut = SoundCut(window).cut(time: time, frameCount: buffer.frameCount, sampleRate: buffer.sampleRate)
                if let cut {
                    do throws(CodecError) {
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

        private mutating func queue(_ media: Media, at time: Duration, length: Duration, isInside: Bool) async {
            renderer.count { $0.decodedFrames += 1 }
            guard isInside else {
                // Media comes in the order of presentation: what was decoded before is all there is.
                if let until = window.until, time >= until, !isOver {
                    isOver = true
                    await presentAll()
                }
                return
            }
            guard !isTooLate(media, at: time) else { return }
            let itemTime = MediaTime(time)
            let media = media.placed(at: itemTime)
            prepare(media)
            pending.append(Pending(media: media, time: time, length: length))
            notePrimed(time)
            while pending.count > decodedAhead || isFirstDue { await presentFirst() }
        }

        /// Lets outputs see media ahead of its time.
        private func prepare(_ media: Media) {
            switch media {
            case .video(let frame): renderer.hub.prepare(frame, generation: clockGeneration)
            case .audio(let buffer): renderer.hub.prepare(buffer, generation: clockGeneration)
            }
        }

        private var isFirstDue: Bool {
            guard let first = pending.first else { return false }
            return renderer.clock.isDue(first.time, isHeard: first.isSound)
        }

        /// Whether the decoder has fallen so far behind that its picture is of the past. Then it is counted and not
        /// shown, unless nothing was shown for a while.
        private mutating func isTooLate(_ media: Media, at time: Duration) -> Bool {
            guard renderer.clock.isPaced, !window.isStill, case .video = media,
                renderer.clock.now - time > TrackRenderer.lateFrameTolerance,
                let lastPresented, time - lastPresented < TrackRenderer.longestPicture
            else { return false }
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
        }

        /// Hands over the first decoded frame when its time has come.
        mutating func presentFirst() async {
            guard !pending.isEmpty else { return }
            let next = pending.removeFirst()
            guard await waitUntilDue(next.time, isHeard: next.isSound) else { return }
            let generation = clockGeneration
            switch next.media {
            case .video(let frame):
                await attempt { hub throws(OutputError) in try await hub.write(frame, generation: generation) }
            case .audio(let buffer):
                await attempt { hub throws(OutputError) in try await hub.write(buffer, generation: generation) }
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

        private mutating func pass(_ sample: MediaSample) async {
            guard let track, shown.copies(sample, of: track.mediaType) else { return }
            let timing = CopySelection.Timing(
                decoding: ItemTimeline.duration(sample.dts, track.timescale) + offset,
                presentation: ItemTimeline.duration(sample.pts, track.timescale) + offset,
                length: ItemTimeline.duration(sample.duration, track.timescale))
            if decoder == nil { renderer.count { $0.decodedFrames += 1 } }
            switch copies.judge(sample, timing) {
            case .wanted: break
            case .dropped: return
            case .outside:
                // Nothing of before is to be written any more, whatever is behind it.
                _ = renderer.hub.lockstep?.isNext(timing.decoding, of: track.mediaType)
                return
            }
            if decoder == nil { notePrimed(timing.presentation) }
            guard await waitUntilDue(timing.decoding) else { return }
            await renderer.hub.lockstep?.wait(for: timing.decoding, of: track.mediaType)
            let generation = clockGeneration
            for sample in copies.take(sample, timing) {
                let sample = isTakerNew ? completed(sample) : sample
                isTakerNew = false
                let time = ItemTimeline.duration(sample.pts, track.timescale) + offset
                await attempt { hub throws(OutputError) in
                    try await hub.write(sample, of: track, at: MediaTime(time), generation: generation)
                }
            }
            if decoder == nil { handedOver(max(timing.presentation, timing.decoding), timing.length) }
        }

        /// Whether media is to be presented at all.
        private func isInside(_ time: Duration, _ length: Duration, isVideo: Bool) -> Bool {
            if window.isEmpty { return false }
            if let from = window.from, isVideo ? time < from : time + length <= from { return false }
            return window.until.map { time < $0 } ?? true
        }

        /// Waits until `time` has come. False where the media was flushed meanwhile.
        private func waitUntilDue(_ time: Duration, isHeard: Bool = false) async -> Bool {
            guard
                await renderer.clock.wait(
                    until: time, isHeard: isHeard, generation: clockGeneration, waiter: ObjectIdentifier(renderer))
                    == .due,
                // Without a jump in time, too: media that is loaded again for who came late replaces what was decoded.
                renderer.isCurrent(generation)
            else { return false }
            if renderer.clock.isPaced, !window.isStill {
                let lateness = renderer.clock.now - time
                renderer.count { $0.lateness = lateness }
            }
            return true
        }

        private mutating func handedOver(_ time: Duration, _ length: Duration) {
            lastPresented = max(lastPresented ?? time, time)
            end = max(end, time + length)
            guard end - reported >= TrackRenderer.reportInterval else { return }
            reported = end
            renderer.report(.presented(upTo: end))
        }

        /// Lets the outputs work; the first failure ends the player.
        private mutating func attempt(_ body: (OutputDispatcher) async throws(OutputError) -> Void) async {
            guard !hasFailed else { return }
            do {
                try await body(renderer.hub)
            } catch {
                hasFailed = true
                renderer.report(.failed(PlayerError(error)))
            }
        }
    }
}
