import Testing

@testable import HLSKitSelection

@Suite("Reload phase")
struct ReloadPhaseTests {
    /// Returns the playlist's age at each load. The server adds a segment of 2 s every 2 s, and the first playlist is
    /// `age` old.
    private static func ages(first age: Duration, loads: Int) -> [Duration] {
        let segment = Duration.seconds(2)
        var phase = ReloadPhase()
        var (time, before) = (segment + age, Duration?.none)
        var ages: [Duration] = []
        while ages.count < loads {
            let written = segment * Int(time / segment)
            ages.append(time - written)
            let media = before.map { (interval: time - $0, media: written - segment * Int($0 / segment)) }
            phase.note(interval: media?.interval ?? .zero, media: media?.media, next: segment)
            before = time
            time += media?.media == .zero ? segment / 2 : segment + phase.delay(for: segment)
        }
        return ages
    }

    @Test("reloads settle just after the server's writes", arguments: [0.0, 0.1, 0.5, 1, 1.5, 1.9])
    func settles(age: Double) {
        let ages = Self.ages(first: .seconds(age), loads: 100)
        #expect(ages.suffix(50).allSatisfy { $0 < .milliseconds(500) })
    }

    @Test("with irregular writes no reload is delayed by much")
    func jitter() {
        var phase = ReloadPhase()
        for media in [2, 0, 7, 2, 2, 0, 0, 4, 2].map(Duration.seconds) {
            phase.note(interval: .seconds(2), media: media, next: .seconds(2))
            #expect(phase.delay(for: .seconds(2)) <= .milliseconds(125))
        }
        phase.note(interval: .seconds(2), media: nil, next: .seconds(2))
        #expect(phase.delay(for: .seconds(2)) == .milliseconds(125))
    }
}
