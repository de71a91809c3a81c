import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

@Suite("Player, audio at an end time", .timeLimit(.minutes(10)))
struct SoundCutTests {
    struct Case: Sendable {
        var from: Duration?
        var until: Duration?
        var leading: Int
        var trailing: Int
    }

    @Test(
        "a piece of audio is cut at the sample",
        arguments: [
            Case(from: nil, until: .milliseconds(1010), leading: 0, trailing: 480),
            Case(from: .milliseconds(1005), until: nil, leading: 240, trailing: 0),
            Case(from: .milliseconds(1005), until: .milliseconds(1010), leading: 240, trailing: 480),
            Case(from: .milliseconds(900), until: .milliseconds(1100), leading: 0, trailing: 0),
            Case(from: .milliseconds(1030), until: nil, leading: 0, trailing: 0),
            Case(from: nil, until: .milliseconds(990), leading: 0, trailing: 0),
        ])
    func cut(_ test: Case) {
        let cut = AudioTrim(PresentationWindow(from: test.from, until: test.until))
            .cut(time: .seconds(1), frameCount: 960, sampleRate: 48_000)
        #expect(cut?.leading ?? 0 == test.leading)
        #expect(cut?.trailing ?? 0 == test.trailing)
    }

    enum Packing: String, CaseIterable { case separateFMP4, muxedTS }

    @Test(
        "at an end time audio ends at the sample, even if its rest is in the next segment",
        arguments: Packing.allCases, [true, false])
    func end(packing: Packing, isPaced: Bool) throws {
        let change: (inout PlayerConfiguration) -> Void = { if !isPaced { $0.pacing = .unpaced } }
        let bench =
            packing == .separateFMP4
            ? try VirtualBench(change: change)
            : try VirtualBench("ts.m3u8", quality: nil, files: SampleTransportStream().files(), change: change)
        bench.item.forwardPlaybackEndTime = MediaTime(value: 4, timescale: 1)
        try bench.play { bench in
            try await bench.pass(.seconds(6))
            #expect(bench.writer.frames.count == 100)
            let last = try #require(bench.writer.sounds.last)
            #expect(abs(last.time + last.length - .seconds(4)) < .microseconds(25))
            #expect(bench.writer.largestAudioGap < .microseconds(30))
            #expect(abs(bench.time - 4) < 0.001)
            let after = bench.transport.urls.count { $0.hasSuffix("ts-1.ts") || $0.hasSuffix("ts-2.ts") }
            #expect(after <= 1)
        }
    }
}
