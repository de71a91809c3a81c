import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite("Player lifetime", .timeLimit(.minutes(10)), .enabled(if: TestOrigin.isInstalled))
struct PlayerLifetimeTests {
    @Test("D10: closing during playback ends every request, and no output is used afterwards")
    func close() async throws {
        let origin = try SampleOrigin.shared()
        var configuration = PlayerConfiguration.unpaced()
        let transport = CountingTransport(configuration.transport)
        configuration.transport = transport
        for stop in [1, 30, 150] {
            let (reached, sink) = AsyncStream.makeStream(of: Void.self)
            let writer = CapturingWriter { if $0 >= stop { sink.yield() } }
            let player = Player(configuration: configuration)
            let events = player.events()
            player.play()
            try player.replaceCurrentItem(
                with: try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "540p", to: writer))
            for await _ in reached { break }
            await player.close()

            let count = writer.frames.count
            #expect(transport.openCount == 0)
            for await _ in events {}
            #expect(writer.frames.count == count)
        }
    }

    @Test("an item replaced during playback delivers nothing more; the new one plays from its start")
    func replace() async throws {
        let origin = try SampleOrigin.shared()
        let (reached, sink) = AsyncStream.makeStream(of: Void.self)
        // Without pacing, a busy machine could play all of the first item before the second one replaces it.
        let gate = DispatchSemaphore(value: 0)
        let first = CapturingWriter([.video]) {
            guard $0 == 40 else { return }
            sink.yield()
            gate.wait()
        }
        let second = CapturingWriter([.video])
        let player = Player(configuration: .unpaced())
        player.play()
        let one = try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "540p", to: first)
        try player.replaceCurrentItem(with: one)
        for await _ in reached { break }
        let events = player.events()
        let two = try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "180p", to: second) {
            $0.endPosition = .time(.seconds(8))
        }
        try player.replaceCurrentItem(with: two)
        gate.signal()
        #expect(player.currentItem === two)
        for await event in events where event.isEnd { break }
        let count = first.frames.count
        await player.close()

        #expect(second.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[..<200]))
        #expect(first.frames.count == count)
        #expect(count < SampleMedia.frameCount)
        #expect(throws: HLSError.self) { try Player().replaceCurrentItem(with: one) }
    }

    @Test("F16: an item that cannot be loaded fails with the reason")
    func failure() async throws {
        let origin = try SampleOrigin.shared()
        let play = try await Play.toEnd(PlayerItem(urlString: origin.plain + "/none.m3u8"), .unpaced())

        #expect(play.error?.code == .notFound)
        #expect(play.error?.urlString == origin.plain + "/none.m3u8")
        #expect(play.error?.detail?.contains("404") == true)
        #expect(play.state.itemStatus == .failed)
        #expect(!play.didPlayToEnd)
    }

    // Runs in a separate process, so that nothing else opens or closes files or threads.
    @Test("D10: a thousand players made, played and released leak no decoder, file, connection or thread")
    func leaks() async {
        await #expect(processExitsWith: .success) {
            func count(_ what: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(what)").count
            }
            /// Waits until the count falls to `most`. Idle threads of the pool end after some seconds.
            func settled(_ count: () throws -> Int, at most: Int) throws -> Bool {
                for _ in 0..<2000 {
                    if try count() <= most { return true }
                    usleep(10_000)
                }
                return false
            }
            let origin = try SampleOrigin.shared()
            // Pacing and the lack of audio limit the decoding beyond the awaited frame.
            var paced = PlayerConfiguration()
            paced.decodingThreadCount = 1
            // Without a limit, a slow machine opens more connections at a time, and the idle ones are kept.
            paced.transport = CurlTransport(configuration: TransportConfiguration(maximumConnectionsPerHost: 4))
            let configuration = paced
            @Sendable func round(_ number: Int) async throws {
                let (reached, sink) = AsyncStream.makeStream(of: Void.self)
                let writer = CapturingWriter([.video]) { _ in sink.yield() }
                let player = Player(configuration: configuration)
                player.play()
                try player.replaceCurrentItem(
                    with: try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "180p", to: writer))
                for await _ in reached { break }
                if number % 2 == 0 { await player.close() }
            }
            func rounds(_ count: Int) async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        if number >= 8 { try await group.next() }
                        group.addTask { try await round(number) }
                    }
                    try await group.waitForAll()
                }
            }
            try await rounds(16)
            guard try settled({ DecoderContext.openCount }, at: 0) else { exit(2) }
            usleep(500_000)
            let (files, threads) = (try count("fd"), try count("task"))
            try await rounds(1000)
            // Some connections remain open for the next player, so a few more files are allowed. The exit code names
            // the leak: decoders (3), files (4) or threads (5).
            guard try settled({ DecoderContext.openCount }, at: 0) else { exit(3) }
            guard try settled({ try count("fd") }, at: files + 8) else { exit(4) }
            guard try settled({ try count("task") }, at: threads + 4) else { exit(5) }
            exit(0)
        }
    }
}
