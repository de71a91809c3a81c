import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Secrets of URLs in player reports", .timeLimit(.minutes(10)))
struct SecretEventTests {
    private static let secret = "S3CRET"
    private static let query = "?X-Amz-Signature=\(secret)&token=\(secret)&n=1"

    /// Returns the responses of a stream with signed URLs. Each segment fails once, and one segment always fails.
    private static func answer(
        _ stream: SyntheticStream, _ request: SimulatedRequest
    ) -> SimulatedResponse {
        let path = request.urlString.split(separator: "/").dropFirst(2).joined(separator: "/").prefix { $0 != "?" }
        if request.resourceClass == .segment, request.attempt == 0 || path.contains("4.") { return .status(503) }
        var inner = request
        inner.urlString = "https://synthetic.invalid/\(path)"
        var response = stream.response(to: inner)
        guard response.body.starts(with: "#EXTM3U".utf8) else { return response }
        let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
        let text = lines.map { $0.hasPrefix("#") ? String($0) : $0 + query }.joined(separator: "\n") + "\n"
        response.body = Array(text.utf8)
        return response
    }

    @Test("no event, error, log or metric contains a secret", arguments: ["index.m3u8", "missing.m3u8"])
    func everything(name: String) throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: 8)
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20))
        let transport = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock) {
            Self.answer(stream, $0)
        }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: "https://user:\(Self.secret)@signed.invalid/\(name)\(Self.query)")
        let events = player.events()
        let metrics = item.allMetrics()
        let reported = Task(executorPreference: clock) {
            var lines: [String] = []
            for await event in events {
                lines.append("\(event)")
                if event.isLast { break }
            }
            return lines
        }
        let measured = Task(executorPreference: clock) {
            var lines: [String] = []
            for await event in metrics { lines.append(event.jsonLine + " \(event)") }
            return lines
        }
        player.play()
        try player.replaceCurrentItem(with: item)
        let lines = try clock.run {
            var lines = await reported.value
            if let log = item.accessLog { lines += [log.extendedLogText, log.jsonLines] }
            if let log = item.errorLog { lines += [log.extendedLogText, log.jsonLines] }
            await player.close()
            return lines + (await measured.value)
        }
        #expect(lines.contains { $0.contains("signed.invalid") && $0.contains("n=1") }, "it says what it is about")
        for line in lines where line.contains(Self.secret) { Issue.record("\(line.prefix(500))") }
    }
}
