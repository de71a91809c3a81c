import Foundation
import HLSGetKit
import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Keys that control a player", .timeLimit(.minutes(10)))
struct KeyboardControlTests {
    private static func play(
        into output: VideoOutput? = nil,
        _ body: @escaping @Sendable (Player, KeyboardControl, VirtualClock) async throws -> Void
    ) throws {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            let name = request.urlString.split(separator: "/").last ?? ""
            guard let data = FileManager.default.contents(atPath: "\(SampleMedia.folder)/\(name)") else {
                return SimulatedResponse(status: 404)
            }
            return SimulatedResponse(body: Array(data))
        }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: "https://sample.invalid/master.m3u8")
        if let output { try item.add(output) }
        player.play()
        try player.replaceCurrentItem(with: item)
        try clock.run {
            try await clock.sleep(for: .seconds(5))
            #expect(player.timeControlStatus == .playing)
            try await body(player, KeyboardControl(player: player), clock)
            await player.close()
        }
    }

    @Test("T02: space pauses and plays, i plays at once, q leaves, h lists the keys")
    func pause() throws {
        try Self.play { player, control, clock in
            #expect(control.perform(.togglePause) == .nothing)
            let time = player.state.currentTime
            try await clock.sleep(for: .seconds(2))
            #expect(player.timeControlStatus == .paused && player.state.currentTime == time)
            #expect(control.perform(.togglePause) == .nothing)
            try await clock.sleep(for: .seconds(2))
            #expect(player.timeControlStatus == .playing && player.state.currentTime > time)
            player.pause()
            #expect(control.perform(.playImmediately) == .nothing)
            #expect(player.timeControlStatus == .playing)
            #expect(control.perform(.quit) == .quit)
            #expect(control.perform(.showHelp) == .say(KeyCommand.help))
        }
    }

    @Test("T02: arrow keys add up, however fast they are, and stay in the seekable range")
    func seeks() throws {
        try Self.play { player, control, clock in
            player.pause()
            let start = player.state.currentTime.seconds
            for _ in 0..<2 { #expect(control.perform(.seek(seconds: 10)) == .nothing) }
            try await clock.sleep(for: .seconds(2))
            #expect(abs(player.state.currentTime.seconds - start - 20) < 0.001)
            _ = control.perform(.seek(seconds: -10))
            try await clock.sleep(for: .seconds(2))
            #expect(abs(player.state.currentTime.seconds - start - 10) < 0.001)
            _ = control.perform(.seek(seconds: -60))
            try await clock.sleep(for: .seconds(2))
            #expect(player.state.currentTime == .zero)
            _ = control.perform(.seek(seconds: 60))
            try await clock.sleep(for: .seconds(2))
            #expect(abs(player.state.currentTime.seconds - 40) < 0.05)
        }
    }

    @Test("T02: comma and period pause and step by one frame")
    func steps() throws {
        try Self.play(into: VideoOutput()) { player, control, clock in
            #expect(control.perform(.stepFrame(1)) == .nothing)
            #expect(player.rate == 0)
            try await clock.sleep(for: .seconds(1))
            let first = player.state.currentTime
            #expect(control.perform(.stepFrame(1)) == .nothing)
            try await clock.sleep(for: .seconds(1))
            // The sample has 25 frames per second.
            #expect(abs((player.state.currentTime - first).seconds - 0.04) < 0.001)
            #expect(control.perform(.stepFrame(-1)) == .nothing)
            try await clock.sleep(for: .seconds(1))
            #expect(player.state.currentTime == first)
        }
    }

    @Test("T02: the rate changes in steps, also while paused")
    func rates() throws {
        try Self.play { player, control, _ in
            #expect(control.perform(.changeRate(1)) == .say("rate 1.25x"))
            #expect(player.rate == 1.25 && player.defaultRate == 1.25)
            player.pause()
            #expect(control.perform(.changeRate(-1)) == .say("rate 1x"))
            #expect(player.rate == 0)
            #expect(control.perform(.togglePause) == .nothing)
            #expect(player.rate == 1)
        }
    }

    @Test("T02: v and V step through the qualities, and return to automatic selection beyond the last one")
    func quality() throws {
        try Self.play { player, control, clock in
            let item = try #require(player.currentItem)
            item.displaySize = PixelSize(width: 320, height: 180)
            let variants = item.selectableVariants
            #expect(variants.map { $0.videoAttributes?.presentationSize?.height } == [180, 360, 540])
            let middle = try #require(variants.dropFirst().first)
            for (step, end) in [(1, variants.last), (-1, variants.first)] {
                let end = try #require(end)
                item.variantPolicy = .pinned(middle.id)
                #expect(control.perform(.changeQuality(step)) == .say("quality: \(end.name())"))
                #expect(item.variantPolicy == .pinned(end.id, flush: true))
                try await clock.sleep(for: .seconds(10))
                #expect(player.state.variant?.id == end.id)
                #expect(player.timeControlStatus == .playing)
                #expect(control.perform(.changeQuality(step)) == .say("quality: automatic"))
                #expect(item.variantPolicy == .automatic)
                #expect(control.perform(.changeQuality(step)) == .say("quality: \(end.name())"))
            }
        }
    }

    @Test("T02: a recording and a limit of the user keep their quality")
    func fixedQuality() throws {
        try Self.play { player, control, _ in
            let item = try #require(player.currentItem)
            item.variantPolicy = .best()
            #expect(control.perform(.changeQuality(1)) == .say("the quality of a recording does not change"))
            #expect(item.variantPolicy == .best())
            item.variantPolicy = .automatic
            item.quality = try QualityExpression(parsing: "180p")
            #expect(control.perform(.changeQuality(1)) == .say("no other quality"))
            #expect(item.variantPolicy == .automatic)
        }
    }

    @Test("T02: subtitles and audio are cycled, and missing alternatives are reported")
    func selection() throws {
        try Self.play { player, control, _ in
            #expect(control.perform(.nextSubtitles) == .say("subtitles: English (en)"))
            #expect(player.currentItem?.currentMediaSelection[.legible]?.displayName == "English")
            #expect(control.perform(.nextSubtitles) == .say("subtitles: none"))
            #expect(player.currentItem?.currentMediaSelection[.legible] == nil)
            #expect(control.perform(.nextAudio) == .say("no other audio"))
        }
    }
}
