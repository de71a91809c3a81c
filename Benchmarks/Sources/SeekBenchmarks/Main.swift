import Foundation
import HLSKitCore

/// Measures how long seeks and starts take until the first frame is shown.
///
///     swift run -c release SeekBenchmarks [URL [SEEKS]]
///
/// `URL` is a VOD stream on a nearby server. The starts need at least a minute and a half of media. Without a URL, the
/// tool plays the tests' sample from its file. Each time is from the call until an output receives the frame.
@main
struct Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Tests/Fixtures/sample/master.m3u8").standardized
        let url = arguments.first ?? sample.absoluteString
        let bench = Bench(
            url: url, variant: try await Asset(urlString: url).load(.variants).first?.id,
            seekCount: arguments.dropFirst().first.flatMap { Int($0) } ?? 40)
        print(bench.url)
        let decoding = try await bench.decodingSpeed()
        print("decoding: \(Int(decoding.framesPerSecond)) pictures/s of \(Int(decoding.frameRate.rounded())) fps")
        try await bench.bufferedSeeks(decoding)
        try await bench.unbufferedSeeks()
        try await bench.starts()
    }
}

struct Bench {
    let url: String
    /// The first variant in the playlist.
    let variant: AssetVariant.ID?
    let seekCount: Int

    struct Decoding {
        var framesPerSecond: Double
        var frameRate: Double
        var duration: Double
    }

    private func configuration(_ transport: any ResourceTransport = SchemeTransport.shared) -> PlayerConfiguration {
        var configuration = PlayerConfiguration(transport: transport)
        configuration.mediaTypes = [.video]
        return configuration
    }

    private func item(_ writer: FrameTimes) -> PlayerItem {
        let item = PlayerItem(urlString: url)
        item.startsOnFirstEligibleVariant = true
        if let variant { item.variantPolicy = .pinned(variant) }
        item.add(writer)
        return item
    }

    func decodingSpeed() async throws -> Decoding {
        var configuration = configuration()
        configuration.pacing = .unpaced
        let writer = FrameTimes()
        let player = try Player(item: item(writer), configuration: configuration)
        let events = player.events()
        let began = ContinuousClock.now
        player.play()
        for await event in events {
            if case .didPlayToEnd = event.kind { break }
            if case .itemStatusChanged(.failed) = event.kind { throw Failure(text: "cannot play \(url)") }
        }
        let elapsed = seconds(ContinuousClock.now - began)
        let duration = player.state.duration.seconds
        await player.close()
        return Decoding(
            framesPerSecond: Double(writer.count) / elapsed, frameRate: Double(writer.count) / duration,
            duration: duration)
    }

    struct Failure: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    // MARK: Seeks

    func bufferedSeeks(_ decoding: Decoding) async throws {
        let reach = min(decoding.duration, 40)
        var configuration = configuration()
        configuration.buffering.forwardDuration = .seconds(60)
        configuration.buffering.backDuration = .seconds(120)
        configuration.buffering.maxBufferBytes = 512 << 20
        configuration.buffering.maxBackBufferBytes = 512 << 20
        let writer = FrameTimes()
        let player = try Player(item: item(writer), configuration: configuration)
        player.play()
        while (player.state.loadedTimeRanges.last?.end.seconds ?? 0) < reach - 0.5 {
            try await Task.sleep(for: .milliseconds(10))
        }
        var random = SystemRandomNumberGenerator()
        var (quick, exact, bounds) = ([Double](), [Double](), [Double]())
        for _ in 0..<seekCount {
            let target = Double.random(in: 0..<reach - 2, using: &random)
            quick.append(try await seek(player, writer, to: target, tolerance: .positiveInfinity).latency)
            // Decoding towards the target begins at this sync sample.
            let sync = try await seek(player, writer, to: target, tolerance: nil).landing
            let presentedFrames = (target - sync) * decoding.frameRate + 1
            exact.append(try await seek(player, writer, to: target, tolerance: .zero).latency)
            bounds.append(50 + 1.1 * 1000 * presentedFrames / decoding.framesPerSecond)
        }
        await player.close()
        report("seek, buffered, default tolerances", quick, bound: 50)
        report("seek, buffered, zero tolerance", exact, bounds: bounds)
    }

    func unbufferedSeeks() async throws {
        let transport = CountingTransport(SchemeTransport.shared)
        var configuration = configuration(transport)
        // The buffer is so short that the next seek target is never loaded.
        configuration.buffering.forwardDuration = .seconds(4)
        configuration.buffering.backDuration = .zero
        let writer = FrameTimes()
        let player = try Player(item: item(writer), configuration: configuration)
        player.play()
        _ = await writer.next(after: 0) { _ in true }
        let duration = player.state.duration.seconds
        var latencies: [Double] = []
        var playlists = 0
        for number in 0..<seekCount {
            let count = transport.requests.count
            let target = number % 2 == 0 ? duration * 0.7 : duration * 0.2
            latencies.append(try await seek(player, writer, to: target, tolerance: .positiveInfinity).latency)
            playlists += transport.requests[count...].count { $0 == .mediaPlaylist || $0 == .multivariantPlaylist }
        }
        await player.close()
        report("seek, unbuffered, default tolerances", latencies)
        print("  playlists asked for: \(playlists)")
    }

    /// - Parameter tolerance: `nil` allows any distance before the target and none after it.
    private func seek(
        _ player: Player, _ writer: FrameTimes, to target: Double, tolerance: MediaTime?
    ) async throws -> (latency: Double, landing: Double) {
        let count = writer.count
        let began = ContinuousClock.now
        let finished = try await player.seek(
            to: MediaTime(seconds: target, preferredTimescale: 90_000),
            toleranceBefore: tolerance ?? .positiveInfinity, toleranceAfter: tolerance ?? .zero)
        guard finished else { throw Failure(text: "the seek to \(target) was not finished") }
        let landing = player.state.currentTime.seconds
        let presented = await writer.next(after: count) { presented in
            presented.arrival > began && abs(presented.itemTime - landing) < 1
        }
        return (1000 * seconds(presented.arrival - began), presented.itemTime)
    }

    // MARK: Starts

    func starts() async throws {
        for start in [0, 60] {
            var latencies: [Double] = []
            for _ in 0..<max(5, seekCount / 4) {
                let writer = FrameTimes()
                let item = item(writer)
                if start > 0 { item.startPosition = .time(.seconds(start)) }
                let began = ContinuousClock.now
                let player = try Player(item: item, configuration: configuration())
                player.playImmediately(atRate: 1)
                player.play()
                let first = await writer.next(after: 0) { _ in true }
                latencies.append(1000 * seconds(first.arrival - began))
                if first.itemTime + 1 < Double(start), player.state.duration.seconds > Double(start) {
                    throw Failure(text: "the first picture is that of \(first.itemTime) s")
                }
                await player.close()
            }
            report("first picture of a start at \(start) s", latencies)
        }
    }

    // MARK: Numbers

    private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

    private func report(_ what: String, _ latencies: [Double], bound: Double? = nil, bounds: [Double] = []) {
        let sorted = latencies.sorted()
        func figure(_ share: Double) -> String {
            String(format: "%.1f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        let limits = bounds.isEmpty ? bound.map { Array(repeating: $0, count: latencies.count) } ?? [] : bounds
        let late = zip(latencies, limits).count { $0 > $1 }
        let verdict = limits.isEmpty ? "" : ", \(late) of \(latencies.count) over the limit"
        print("\(what): median \(figure(0.5)) ms, 95 % \(figure(0.95)) ms, worst \(figure(1)) ms\(verdict)")
        if !bounds.isEmpty {
            let mean = bounds.reduce(0, +) / Double(bounds.count)
            print("  limit 50 ms + 1.1 x decoding: \(String(format: "%.1f", mean)) ms on average")
        }
    }
}
