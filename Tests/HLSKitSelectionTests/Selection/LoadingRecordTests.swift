import Testing

@testable import HLSKitSelection

@Suite("Loading record")
struct LoadingRecordTests {
    @Test("only seconds with a running load are counted")
    func seconds() {
        var record = LoadingRecord()
        record.began(at: .seconds(10))
        // The wait for the first byte counts.
        record.received(byteCount: 0, at: .milliseconds(10_500))
        record.received(byteCount: 1000, at: .seconds(11))
        #expect(record.rates == [8000])
        record.received(byteCount: 4000, at: .seconds(13))
        #expect(record.rates == [8000, 16_000, 16_000])
        record.ended(at: .seconds(13))
        record.began(at: .seconds(3613))
        record.received(byteCount: 500, at: .seconds(3614))
        record.ended(at: .milliseconds(3_614_500))
        #expect(record.rates == [8000, 16_000, 16_000, 4000])
    }

    @Test("parallel downloads count as one link")
    func parallel() {
        var record = LoadingRecord()
        record.began(at: .zero)
        record.began(at: .zero)
        for half in 1...4 {
            record.received(byteCount: 1000, at: .milliseconds(500 * half))
            record.received(byteCount: 500, at: .milliseconds(500 * half))
        }
        record.ended(at: .seconds(2))
        record.ended(at: .seconds(2))
        #expect(record.rates.reduce(0, +) == 48_000 - 4000)
        #expect(record.rates.count == 2)
    }

    @Test("two minutes are remembered, also across a longer silence")
    func length() {
        var record = LoadingRecord()
        record.began(at: .zero)
        for second in 1...200 { record.received(byteCount: second, at: .seconds(second)) }
        #expect(record.rates.count == LoadingRecord.length)
        #expect(record.rates.last == 1600)
        record.received(byteCount: 1, at: .seconds(10_000_000))
        #expect(record.rates.count == LoadingRecord.length)
        #expect(record.rates.allSatisfy { $0 < 1 })
    }
}
