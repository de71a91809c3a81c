import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Player, parameter sets", .timeLimit(.minutes(10)))
struct ParameterSetTests {
    private static func bench(
        lacksFirst: Bool = false, hasAudio: Bool = false, change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> VirtualBench {
        var files = try SampleTransportStream(hasParameterSets: { $0 == 0 }, hasAudio: hasAudio).files()
        if lacksFirst { files["ts-0.ts"] = nil }
        return try VirtualBench("ts.m3u8", quality: nil, files: files, change: change)
    }

    private static func check(_ frames: ArraySlice<CapturingWriter.Frame>, from first: Int, count: Int) throws {
        let hashes = try SampleMedia.frameHashes(of: "180p")
        let indices = frames.map { Int(($0.time / .milliseconds(40)).rounded()) }
        #expect(indices == Array(first..<first + indices.count))
        #expect(indices.count >= count)
        for (frame, index) in zip(frames, indices) where hashes.indices.contains(index) {
            #expect(frame.hash == hashes[index], "\(index)")
        }
    }

    @Test("parameter sets of an earlier segment are kept for a recreated decoder", arguments: [2.0, 60.0])
    func kept(forwardBuffer: Double) throws {
        let bench = try Self.bench { $0.buffering.forwardDuration = .seconds(forwardBuffer) }
        try bench.play { bench in
            try await bench.pass(.seconds(1))
            for target in [18_000, 33_000, 9000] {
                let count = bench.writer.frames.count
                #expect(try await bench.seek(target))
                try await bench.pass(.seconds(1))
                try Self.check(bench.writer.frames[count...], from: target / 40, count: 24)
            }
            #expect(bench.transport.urls.count { $0.hasSuffix("ts-0.ts") } == 1)
        }
    }

    @Test("a start in the middle reads the parameter sets at the head of the stream", arguments: [true, false])
    func fetched(isPaced: Bool) throws {
        let bench = try Self.bench(hasAudio: true) { if !isPaced { $0.pacing = .unpaced } }
        bench.item.startPosition = .time(.seconds(10))
        try bench.play { bench in
            try await bench.pass(.seconds(31))
            try Self.check(bench.writer.frames[...], from: 250, count: 750)
            #expect(bench.transport.urls.count { $0.hasSuffix("ts-0.ts") } == 1)
            #expect(bench.player.state.statistics.numberOfDamagedSamples == 0)
            #expect(bench.writer.largestAudioGap < .milliseconds(1))
        }
    }

    @Test("undecodable media is reported after two seconds of media, and fails the item at the end")
    func silent() throws {
        let bench = try Self.bench(lacksFirst: true)
        bench.item.startPosition = .time(.seconds(10))
        let events = Recorder<PlayerEvent>()
        let stream = bench.player.events()
        try bench.play { bench in
            let reader = Task(executorPreference: bench.clock) {
                for await event in stream { events.append(event, at: bench.clock.now.offset) }
            }
            try await bench.pass(.seconds(60))
            #expect(bench.writer.frames.isEmpty)
            #expect(bench.item.error?.code == .badMedia)
            #expect(bench.item.status == .failed)
            await bench.player.close()
            await reader.value
        }
        let kinds = events.elements.map(\.kind)
        let reported = kinds.compactMap { if case .recoverableError(let error) = $0 { error } else { nil } }
        #expect(reported.count { $0.code == .badMedia } == 1)
        #expect(kinds.contains { if case .newErrorLogEntry = $0 { true } else { false } })
        #expect(!kinds.contains { if case .didPlayToEnd = $0 { true } else { false } })
    }

    @Test("only the units before the first slice are examined")
    func copy() {
        let unit = TinyVideo.unit(isIDR: true)
        let sample = MediaSample(
            trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData(unit + TinyVideo.parameterSets))
        #expect(PictureParameterSets.copy(of: sample, .h264).count == TinyVideo.parameterSets.count + 1)
        let late = MediaSample(
            trackID: 1, pts: 0, dts: 0, isSync: true,
            data: SampleData(TinyVideo.slice(isIDR: true) + TinyVideo.parameterSets))
        #expect(PictureParameterSets.copy(of: late, .h264).isEmpty)
    }
}

@Suite("Silent decoders")
struct DecoderSilenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The interval between samples, and the number of samples.
        var step: Duration
        var count: Int
        var fails = false
        var frame: Int?
        var isReported: Bool
    }

    @Test(
        "two seconds of media without a frame are reported once; a decoder's delay is not",
        arguments: [
            Case(testDescription: "short", step: .milliseconds(40), count: 50, isReported: false),
            Case(testDescription: "two seconds", step: .milliseconds(40), count: 60, isReported: true),
            Case(testDescription: "a slide show", step: .seconds(1), count: 20, isReported: false),
            Case(testDescription: "one that is refused", step: .seconds(1), count: 5, fails: true, isReported: true),
            Case(
                testDescription: "a picture in between", step: .milliseconds(40), count: 80, frame: 40,
                isReported: false),
        ])
    func reported(_ test: Case) {
        var silence = DecoderSilence()
        var reportedCount = 0
        for index in 0..<test.count {
            if test.fails { silence.noteFailure() }
            if index == test.frame {
                silence.end()
            } else if silence.continues(at: test.step * index) == .report {
                reportedCount += 1
            }
        }
        #expect(reportedCount == (test.isReported ? 1 : 0))
        #expect(silence.isOfAll == test.isReported)
    }

    @Test("F19: a silent decoder is nudged once before the report, and again after it gave a frame")
    func nudge() {
        var silence = DecoderSilence()
        func steps(from start: Int) -> [String] {
            (0..<100).compactMap { index in
                silence.continues(at: .milliseconds(40 * (start + index))).map { "\(index) \($0)" }
            }
        }
        #expect(steps(from: 0) == ["40 nudge", "50 report"])
        silence.end()
        #expect(steps(from: 200) == ["40 nudge", "50 report"])
    }

    @Test("F19: refused samples cause an earlier report")
    func refused() {
        var silence = DecoderSilence()
        let steps = (0..<4).map { index in
            silence.noteFailure()
            return silence.continues(at: .seconds(index))
        }
        #expect(steps == [nil, nil, .report, nil])
    }

    @Test("a decoder that gave a frame before is not silent for the whole item")
    func givenBefore() {
        var silence = DecoderSilence()
        silence.end()
        var isReported = false
        for index in 0..<100 where silence.continues(at: .milliseconds(40 * index)) == .report { isReported = true }
        #expect(isReported)
        #expect(!silence.isOfAll)
    }
}
