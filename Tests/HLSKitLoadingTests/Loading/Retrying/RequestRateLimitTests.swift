import Testing

@testable import HLSKitLoading

@Suite("Request bucket")
struct RequestRateLimitTests {
    @Test("R74: unsuccessful requests never exceed 50 in 5 s, however often they fail")
    func rate() {
        var bucket = RequestRateLimit(policies: RetryPolicies(unsuccessfulRequestTotal: .max))
        var now = Duration.zero
        var times: [Duration] = []
        while times.count < 500 {
            now += bucket.wait(at: now)
            times.append(now)
            bucket.charge(at: now)
        }
        for (first, last) in zip(times, times.dropFirst(50)) {
            #expect(last - first >= .seconds(5))
        }
        #expect(now < .seconds(65))
    }

    @Test("R74: 200 unsuccessful requests without a segment end the item")
    func total() {
        var bucket = RequestRateLimit()
        for second in 0..<199 { bucket.charge(at: .seconds(second)) }
        #expect(!bucket.isExhausted)
        bucket.deliver()
        for second in 200..<399 { bucket.charge(at: .seconds(second)) }
        #expect(!bucket.isExhausted)
        bucket.charge(at: .seconds(400))
        #expect(bucket.isExhausted)
    }

    @Test("successful requests do not wait")
    func noWait() {
        let bucket = RequestRateLimit()
        #expect(bucket.wait(at: .zero) == .zero)
        #expect(bucket.wait(at: .seconds(100)) == .zero)
    }

    @Test("without a limit no request waits")
    func patient() {
        var bucket = RequestRateLimit(policies: .patient)
        for _ in 0..<10_000 { bucket.charge(at: .zero) }
        #expect(bucket.wait(at: .zero) == .zero)
        #expect(!bucket.isExhausted)
    }

    @Test("unchanged playlists are charged until one changes or a segment arrives")
    func unchangedPlaylists() {
        var bucket = RequestRateLimit(policies: RetryPolicies(unsuccessfulRequestTotal: 4))
        for second in 0..<3 { bucket.chargeUnchanged(at: .seconds(second * 10)) }
        #expect(!bucket.isExhausted)
        bucket.deliverPlaylist()
        for second in 3..<6 { bucket.chargeUnchanged(at: .seconds(second * 10)) }
        bucket.deliver()
        for second in 6..<9 { bucket.chargeUnchanged(at: .seconds(second * 10)) }
        #expect(!bucket.isExhausted)
        bucket.charge(at: .seconds(90))
        #expect(bucket.isExhausted)
        bucket.deliverPlaylist()
        for second in 0..<3 { bucket.charge(at: .seconds(100 + second * 10)) }
        #expect(bucket.isExhausted)
    }
}
