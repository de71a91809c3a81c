import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Video outputs", .timeLimit(.minutes(10)))
struct VideoOutputTests {
    // MARK: Geometry

    struct RectCase: Sendable, CustomTestStringConvertible {
        var frame: PixelSize
        var display: PixelSize?
        var scale = 1.0
        var gravity: VideoGravity
        var rect: PixelRect
        var testDescription: String { "\(frame) on \(display.map { "\($0)" } ?? "any") \(gravity)" }
    }

    private static let wide = PixelSize(width: 1280, height: 720)
    private static let square = PixelSize(width: 600, height: 600)
    static let rects = [
        RectCase(
            frame: wide, display: square, gravity: .resizeAspect,
            rect: PixelRect(x: 0, y: 131.25, width: 600, height: 337.5)),
        RectCase(
            frame: wide, display: square, gravity: .resizeAspectFill,
            rect: PixelRect(x: (600 - 600 * 16 / 9.0) / 2, y: 0, width: 600 * 16 / 9.0, height: 600)),
        RectCase(
            frame: wide, display: square, gravity: .resize,
            rect: PixelRect(x: 0, y: 0, width: 600, height: 600)),
        RectCase(
            frame: square, display: wide, gravity: .resizeAspect,
            rect: PixelRect(x: 280, y: 0, width: 720, height: 720)),
        RectCase(
            frame: wide, display: PixelSize(width: 640, height: 360), scale: 2, gravity: .resizeAspect,
            rect: PixelRect(x: 0, y: 0, width: 1280, height: 720)),
        RectCase(
            frame: wide, display: nil, gravity: .resizeAspect, rect: PixelRect(x: 0, y: 0, width: 1280, height: 720)),
        RectCase(frame: PixelSize(width: 0, height: 0), display: square, gravity: .resizeAspect, rect: .zero),
    ]

    @Test("J03: the frame's rectangle on its display follows from its shape", arguments: rects)
    func videoRect(_ test: RectCase) {
        let output = VideoOutput(displaySize: test.display, scale: test.scale, gravity: test.gravity)
        let rect = output.videoRect(for: test.frame)
        for (found, expected) in [
            (rect.x, test.rect.x), (rect.y, test.rect.y), (rect.width, test.rect.width),
            (rect.height, test.rect.height),
        ] { #expect(abs(found - expected) < 0.001, "\(rect)") }
    }

    struct CapCase: Sendable, CustomTestStringConvertible {
        /// The sizes in points, and the scales.
        var displays: [(width: Int, height: Int, scale: Double)]
        var gravity = VideoGravity.resizeAspect
        var heights: [Int]
        var testDescription: String { "\(displays) \(gravity)" }
    }

    static let caps = [
        CapCase(displays: [], heights: [360, 720, 1080]),
        CapCase(displays: [(640, 360, 1)], heights: [360]),
        CapCase(displays: [(640, 360, 2)], heights: [360, 720]),
        CapCase(displays: [(640, 360, 1), (320, 180, 5)], heights: [360, 720, 1080]),
        CapCase(displays: [(500, 500, 1)], heights: [360]),
        CapCase(displays: [(500, 500, 1)], gravity: .resizeAspectFill, heights: [360, 720]),
        CapCase(displays: [(4000, 4000, 1)], heights: [360, 720, 1080]),
    ]

    @Test("E06: the largest output caps the variants at its size in pixels", arguments: caps)
    func displayCap(_ test: CapCase) {
        let board = OutputRegistry()
        for display in test.displays {
            #expect(
                board.add(
                    VideoOutput(
                        displaySize: PixelSize(width: display.width, height: display.height), scale: display.scale,
                        gravity: test.gravity)))
        }
        var context = SelectionContext()
        context.display = board.limits.display
        let variants = [360, 720, 1080].enumerated().map { index, height in
            AssetVariant(
                index: index, peakBitRate: Double(height) * 1000,
                presentationSize: PixelSize(width: height * 16 / 9, height: height))
        }
        #expect(
            VariantEligibility(variants, in: context).eligible.compactMap(\.resolution?.height) == test.heights)
    }

    @Test("E06: a display size changed during playback changes the variant at the next segment only")
    func changingDisplay() throws {
        let sample = try VirtualSample(quality: nil) { $0.initialBitRateHint = 50_000_000 }
        sample.item.preferredForwardBufferDuration = .seconds(4)
        let output = VideoOutput(displaySize: PixelSize(width: 320, height: 180))
        try sample.item.add(output)
        let frames = Recorder<VideoFrame>()
        sample.record(output.frames(), in: frames)
        try sample.play { time in
            if time == .seconds(10) { output.scale = 3 }
        }
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
        #expect(frames.elements.count == SampleMedia.frameCount)
        #expect(frames.elements.first?.height == 180)
        #expect(frames.elements.last?.height == 540)
    }

    @Test("J08: outputs in standard range do not exclude PQ and HLG variants")
    func standardRange() {
        let board = OutputRegistry()
        #expect(!board.limits.needsStandardRange)
        let output = VideoOutput(colorPolicy: .convert(to: .rec709))
        #expect(board.add(output))
        #expect(board.limits.needsStandardRange)
        #expect(board.remove(output))
        #expect(!board.limits.needsStandardRange)
    }

    // MARK: Frames

    @Test("J03: every frame arrives once, in order, when the timebase reaches it")
    func sequence() throws {
        let sample = try VirtualSample()
        let output = VideoOutput()
        try sample.item.add(output)
        let frames = Recorder<VideoFrame>()
        sample.record(output.frames(), in: frames)
        #expect(!output.isReadyForDisplay)
        try sample.play()
        #expect(try frames.elements.map { try $0.hash } == SampleMedia.frameHashes(of: "180p"))
        let epoch = try #require(sample.epoch)
        // The first frame arrives before playback starts.
        for (frame, time) in zip(frames.elements, frames.times).dropFirst() {
            let due = try #require(frame.itemTime?.duration)
            #expect(abs(time - epoch - due) < .microseconds(1))
        }
        #expect(frames.isFinished, "the sequence ends when the player is closed")
    }

    @Test("J03: a 60 Hz display link takes every frame once, in the refresh that shows it")
    func displayLink() throws {
        let sample = try VirtualSample(end: .seconds(4))
        let output = VideoOutput()
        try sample.item.add(output)
        var taken: [(hash: String, time: Duration, asked: Duration)] = []
        let refresh = Duration.nanoseconds(16_666_667)
        sample.record(sample.player.events(), in: sample.events)
        sample.player.play()
        try sample.player.replaceCurrentItem(with: sample.item)
        while !sample.events.elements.contains(where: \.isEnd), sample.clock.now.offset < .seconds(10) {
            sample.clock.advance(by: refresh)
            let asked = output.itemTime(forHostTime: HostTime(offset: sample.clock.now.offset))
            guard let time = asked.duration, output.hasNewFrame(for: asked) else { continue }
            let copy = try #require(try output.copyFrame(for: asked))
            #expect(!output.hasNewFrame(for: asked))
            #expect(try output.copyFrame(for: asked) == nil)
            taken.append((try copy.frame.hash, try #require(copy.displayTime.duration), time))
        }
        #expect(taken.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p").prefix(100)))
        for frame in taken {
            #expect(frame.time <= frame.asked)
            #expect(frame.asked - frame.time <= refresh)
        }
        #expect(output.isReadyForDisplay)
        #expect(output.videoRect == PixelRect(x: 0, y: 0, width: 320, height: 180))
        let player = sample.player
        try sample.clock.run { await player.close() }
        #expect(!output.isReadyForDisplay)
    }

    @Test("J03: if frames are not read, the newest are kept")
    func nobodyAsks() throws {
        let sample = try VirtualSample(end: .seconds(2))
        let output = VideoOutput()
        try sample.item.add(output)
        var counts: [Int] = []
        try sample.play { time in
            guard time == .seconds(1) else { return }
            var asked = MediaTime.zero
            while asked.seconds < 2 {
                if let copy = try output.copyFrame(for: asked) {
                    counts.append(Int(copy.displayTime.seconds * 25 + 0.5))
                }
                asked = asked + MediaTime(value: 1, timescale: 25)
            }
        }
        #expect(counts.count == VideoOutput.maximumFrameCount)
        #expect(counts == Array((counts.first ?? 0)...(counts.last ?? 0)))
    }

    @Test("J04: without a video output no video is decoded")
    func audioAlone() throws {
        let sample = try VirtualSample(end: .seconds(2))
        try sample.item.add(AudioOutput())
        try sample.play()
        #expect(sample.player.state.statistics.numberOfDecodedVideoFrames == 0)
        #expect(sample.player.state.statistics.numberOfDecodedAudioFrames > 80)
    }

    @Test("I06: outputs can be added and removed during playback without losses for the others")
    func changingOutputs() throws {
        let sample = try VirtualSample(end: .seconds(20))
        sample.item.preferredForwardBufferDuration = .seconds(4)
        let writer = CapturingWriter([.audio])
        sample.item.add(writer)
        let output = VideoOutput()
        let second = VideoOutput(pixelFormat: .bgra)
        let (frames, others) = (Recorder<VideoFrame>(), Recorder<VideoFrame>())
        var rates: Set<Double> = []
        try sample.play { time in
            if time == .seconds(3) {
                sample.record(output.frames(), in: frames)
                try sample.item.add(output)
            }
            if time == .seconds(10) {
                sample.record(second.frames(), in: others)
                try sample.item.add(second)
            }
            if time == .seconds(14) { #expect(sample.item.remove(output)) }
            if time > .seconds(3) { rates.insert(sample.player.state.timebaseRate) }
        }
        #expect(rates.subtracting([0]) == [1])
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
        #expect(writer.largestAudioGap < .microseconds(30))
        #expect(writer.sounds.last.map { $0.time + $0.length > .milliseconds(19_970) } == true)
        let times = frames.elements.compactMap(\.itemTime?.seconds)
        #expect(try #require(times.first) <= 3)
        #expect(try #require(times.last) > 13)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.001 })
        #expect(frames.isFinished, "the sequence of an output that was removed ends")
        let rest = others.elements.compactMap(\.itemTime?.seconds)
        #expect(try #require(rest.first) < 10.1)
        #expect(try #require(rest.last) > 19.9)
        #expect(zip(rest, rest.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.001 })
        #expect(others.elements.allSatisfy { $0.pixelFormatName == "bgra" })
    }

    @Test("J06: an output can replace the item's writers")
    func suppression() throws {
        let sample = try VirtualSample(end: .seconds(2))
        let writer = CapturingWriter()
        sample.item.add(writer)
        let output = VideoOutput()
        output.suppressesPlayerRendering = true
        try sample.item.add(output)
        let frames = Recorder<VideoFrame>()
        sample.record(output.frames(), in: frames)
        try sample.play()
        #expect(frames.elements.count == 50)
        #expect(writer.frames.isEmpty)
        #expect(writer.sounds.count > 80)
    }

    @Test("an output belongs to one item at a time")
    func ownership() throws {
        let (one, other) = (PlayerItem(urlString: "https://a.invalid/"), PlayerItem(urlString: "https://b.invalid/"))
        let output = VideoOutput()
        try one.add(output)
        #expect(throws: HLSError.self) { try other.add(output) }
        #expect(throws: HLSError.self) { try one.add(output) }
        #expect(!other.remove(output))
        #expect(one.remove(output))
        try other.add(output)
    }

    @Test("J03: a jump in time drops the earlier frames and is reported")
    func flush() async throws {
        let output = VideoOutput()
        let frames = try PacketFixture("h264-avcc").frames()
        var clock = OutputClock()
        for (index, frame) in frames.prefix(3).enumerated() {
            output.prepare(frame.placed(at: MediaTime(value: Int64(index), timescale: 25)), at: clock)
        }
        let flushes = output.flushes()
        output.flush(generation: 1)
        let late = MediaTime(value: 10, timescale: 1)
        #expect(!output.hasNewFrame(for: late))
        output.prepare(frames[0].placed(at: .zero), at: clock)
        #expect(!output.hasNewFrame(for: late))
        clock.generation = 1
        output.prepare(frames[0].placed(at: .zero), at: clock)
        #expect(output.hasNewFrame(for: late))
        output.end()
        var count = 0
        for await _ in flushes { count += 1 }
        #expect(count == 1)
    }

    @Test("J01: an output's sequences end when its item fails, including those requested later")
    func failure() throws {
        let sample = try VirtualSample(path: "none.m3u8")
        let output = VideoOutput()
        try sample.item.add(output)
        let (frames, late, removed) = (Recorder<VideoFrame>(), Recorder<VideoFrame>(), Recorder<VideoFrame>())
        sample.record(output.frames(), in: frames)
        try sample.play { _ in
            guard sample.item.error != nil else { return #expect(!frames.isFinished) }
            sample.record(output.frames(), in: late)
        }
        #expect(frames.isFinished && late.isFinished)
        sample.item.remove(output)
        sample.record(output.frames(), in: removed)
        sample.clock.advance(by: .seconds(1))
        #expect(!removed.isFinished)
    }
}
