import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Access log totals")
struct AccessLogKeeperTests {
    private static let epoch = PlaylistDate(seconds: 1_700_000_000)

    private static func seconds(_ value: Double) -> Duration { .milliseconds(Int64(value * 1000)) }

    /// The times of each transfer, and the time during which at least one was in flight.
    struct Overlap: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var transfers: [ClosedRange<Double>]
        var active: Double
    }

    static let overlaps = [
        Overlap(testDescription: "none", transfers: [], active: 0),
        Overlap(testDescription: "one", transfers: [1...3], active: 2),
        Overlap(testDescription: "one after another", transfers: [1...2, 4...5], active: 2),
        Overlap(testDescription: "side by side", transfers: [1...3, 2...5], active: 4),
        Overlap(testDescription: "one inside the other", transfers: [1...6, 2...3], active: 5),
        Overlap(testDescription: "one begins as the other ends", transfers: [1...2, 2...4], active: 3),
    ]

    @Test("O01: overlapping transfers count once", arguments: overlaps)
    func union(_ test: Overlap) {
        var keeper = AccessLogBuilder(sessionID: "id")
        keeper.open(uri: "u", at: .zero)
        var steps: [(time: Double, id: Int, begins: Bool)] = []
        for (id, range) in test.transfers.enumerated() {
            steps.append((range.lowerBound, id, true))
            steps.append((range.upperBound, id, false))
        }
        for step in steps.sorted(by: { $0.time < $1.time }) {
            let (id, time) = (RequestID(rawValue: step.id), Self.seconds(step.time))
            if step.begins {
                let segment = SegmentID(lane: .main, rawValue: step.id)
                keeper.requested(id, segment: segment, mediaDuration: .seconds(4), at: time)
            } else {
                keeper.ended(id, isWhole: true, at: time)
            }
        }
        let event = keeper.log(since: Self.epoch, at: .seconds(9)).events[0]
        let active = event.transferDuration.seconds
        #expect(active == test.active)
        #expect(event.numberOfMediaRequests == test.transfers.count)
    }

    @Test("O01: bit rates are bytes over active time; minimum, maximum and deviation are per segment")
    func bitrates() throws {
        var keeper = AccessLogBuilder(sessionID: "id")
        keeper.open(uri: "u", at: .zero)
        // 1 Mbit in 1 s, 4 Mbit in 2 s, and 3 Mbit in 6 s. The last transfer takes longer than its 4 s of media.
        var time = Duration.zero
        for (index, (byteCount, seconds)) in [(125_000, 1), (500_000, 2), (375_000, 6)].enumerated() {
            let id = RequestID(rawValue: index)
            keeper.requested(
                id, segment: SegmentID(lane: .main, rawValue: index), mediaDuration: .seconds(4), at: time)
            keeper.received(byteCount, of: id)
            time += .seconds(seconds)
            keeper.ended(id, isWhole: true, at: time)
        }
        keeper.change { $0.content = .video }
        let event = keeper.log(since: Self.epoch, at: .seconds(30)).events[0]
        #expect(event.numberOfBytesTransferred == 1_000_000)
        #expect(event.transferDuration == .seconds(9))
        #expect((888_888.0...888_889.0).contains(try #require(event.observedBitrate)))
        #expect(event.observedMinBitrate == 0.5e6)
        #expect(event.observedMaxBitrate == 2e6)
        #expect((623_609.0...623_611.0).contains(try #require(event.observedBitrateStandardDeviation)))
        #expect(event.downloadOverdue == 1)
        #expect(event.segmentsDownloadedDuration == .seconds(12))
        #expect((666_666.0...666_667.0).contains(try #require(event.averageVideoBitrate)))
        #expect(event.averageAudioBitrate == nil, "muxed: nobody knows")
    }

    @Test("O01: a preload hint's bytes count from its response on; later reading adds no bit rate")
    func hints() throws {
        var keeper = AccessLogBuilder(sessionID: "id")
        keeper.open(uri: "u", at: .zero)
        let (hint, part) = (RequestID(rawValue: 1), RequestID(rawValue: 2))
        // The server holds the request for 3 s, then sends a megabit in 1 s.
        keeper.requestedHint(hint, at: .zero)
        keeper.responded(hint, from: nil, isFromCache: false, at: .seconds(3))
        keeper.received(62_500, of: hint)
        // The part is listed during the transfer, so the received bytes are read at once.
        keeper.requested(
            part, segment: SegmentID(lane: .main, rawValue: 1), mediaDuration: .milliseconds(500), at: .seconds(3.5))
        keeper.servedFromHint(part, at: .seconds(3.5))
        keeper.responded(part, from: nil, isFromCache: false, at: .seconds(3.5))
        keeper.received(62_500, of: part)
        keeper.received(62_500, of: hint)
        keeper.received(62_500, of: part)
        keeper.ended(hint, isWhole: true, at: .seconds(4))
        keeper.ended(part, isWhole: true, at: .seconds(4))
        keeper.change { $0.content = .video }
        let event = keeper.log(since: Self.epoch, at: .seconds(9)).events[0]
        #expect(event.numberOfBytesTransferred == 125_000)
        #expect(event.transferDuration == .seconds(1))
        #expect(event.observedBitrate == 1e6)
        #expect(event.observedMaxBitrate == nil)
        #expect(event.downloadOverdue == 0)
        #expect(event.numberOfMediaRequests == 1)
        #expect(event.segmentsDownloadedDuration == .milliseconds(500))
        #expect(event.averageVideoBitrate == 2e6)
    }

    @Test("O01: cached responses and reading pauses are not active transfer time")
    func inactive() {
        var keeper = AccessLogBuilder(sessionID: "id")
        keeper.open(uri: "u", at: .zero)
        let (one, other) = (RequestID(rawValue: 1), RequestID(rawValue: 2))
        keeper.requested(one, segment: SegmentID(lane: .main, rawValue: 1), mediaDuration: .seconds(4), at: .zero)
        keeper.responded(one, from: nil, isFromCache: true, at: .zero)
        keeper.received(1000, of: one)
        keeper.ended(one, isWhole: true, at: .seconds(1))
        keeper.requested(
            other, segment: SegmentID(lane: .main, rawValue: 2), mediaDuration: .seconds(4), at: .seconds(1))
        keeper.suspended(other, true, at: .seconds(2))
        keeper.suspended(other, false, at: .seconds(7))
        keeper.ended(other, isWhole: false, at: .seconds(8))
        let event = keeper.log(since: Self.epoch, at: .seconds(30)).events[0]
        #expect(event.numberOfBytesTransferred == 0)
        #expect(event.transferDuration == .seconds(2))
        #expect(event.numberOfMediaRequests == 2)
        #expect(event.observedMinBitrate == nil, "no segment came whole over the network")
    }

    @Test("O01: watched time belongs to the period it was watched in, and is reported once")
    func watched() {
        var keeper = AccessLogBuilder(sessionID: "id")
        keeper.open(uri: "u", at: .zero)
        keeper.setTimebase(TimebaseState(itemTime: .zero, hostTime: .seconds(1), rate: 1), at: .seconds(1))
        keeper.noteWatched(.seconds(4))
        keeper.noteWatched(.seconds(15))
        keeper.noteWatched(.seconds(15))
        keeper.open(uri: "v", playhead: .seconds(99), at: .seconds(13))
        keeper.noteWatched(.zero)
        let events = keeper.log(since: Self.epoch, watched: .seconds(16), at: .seconds(14)).events
        #expect(events.map(\.durationWatched) == [.seconds(15), .seconds(1)])
        #expect(events.map(\.playbackStartOffset) == [.zero, .seconds(99)])
        let dates = events.map { $0.playbackStartDate?.description }
        #expect(dates == ["2023-11-14T22:13:21.000Z", "2023-11-14T22:13:33.000Z"])
        #expect(keeper.log(since: Self.epoch, at: .seconds(20)).events.map(\.durationWatched) == [.seconds(15), .zero])
    }

    @Test("O01: the oldest of many periods are merged without changing the totals")
    func merging() {
        var keeper = AccessLogBuilder(sessionID: "id")
        for index in 0..<1500 {
            keeper.open(uri: "u\(index)", at: .seconds(index))
            let id = RequestID(rawValue: index)
            keeper.requested(
                id, segment: SegmentID(lane: .main, rawValue: index), mediaDuration: .seconds(4), at: .seconds(index))
            keeper.received(10, of: id)
            keeper.ended(id, isWhole: true, at: .milliseconds(index * 1000 + 500))
        }
        let events = keeper.log(since: Self.epoch, at: .seconds(2000)).events
        #expect(events.count == 1000)
        let numberOfMediaRequests = events.map(\.numberOfMediaRequests).reduce(0, +)
        #expect(numberOfMediaRequests == 1500)
        let numberOfBytesTransferred = events.map(\.numberOfBytesTransferred).reduce(0, +)
        #expect(numberOfBytesTransferred == 15_000)
        let transferDuration = events.map(\.transferDuration).reduce(Duration.zero, +)
        #expect(transferDuration == .seconds(750))
    }

    @Test("M06: each period has the mean latency of its presented media, or nil if it has none")
    func latency() {
        var keeper = AccessLogBuilder(sessionID: "6F")
        keeper.open(uri: "a", at: .zero)
        var total = LatencyMean()
        total.add(.seconds(2), for: .seconds(10))
        keeper.noteLatency(total)
        keeper.noteLatency(total)
        keeper.open(uri: "b", at: .seconds(10))
        total.add(.seconds(3), for: .seconds(10))
        total.add(.seconds(4), for: .seconds(10))
        keeper.noteLatency(total)
        keeper.open(uri: "c", at: .seconds(30))
        let events = keeper.log(since: PlaylistDate(seconds: 0), at: .seconds(30)).events
        #expect(events.map(\.liveLatency) == [.seconds(2), .milliseconds(3500), nil])
        #expect(
            events[1].jsonLine.contains(#""live_latency":3.5"#) && events[2].jsonLine.contains(#""live_latency":-1"#))
    }

    @Test("O01: dates have at most nine decimals")
    func decimals() {
        var event = AccessLogEvent()
        event.playbackStartDate = PlaylistDate(seconds: 1_764_390_179, attoseconds: 371_426_053_721_296_768)
        let date = "2025-11-29T04:22:59.371426053Z"
        #expect(event.jsonLine.contains(#""playback_start_date":"\#(date)","#), "\(event.jsonLine)")
        #expect(event.extendedLogLine.hasPrefix("2025-11-29 04:22:59.371426053 "), "\(event.extendedLogLine)")
        let failure = ErrorLogEvent(date: event.playbackStartDate ?? PlaylistDate(seconds: 0), uri: "u")
        #expect(failure.jsonLine.contains(#""date":"\#(date)","#), "\(failure.jsonLine)")
    }

    @Test("O01: text output has one header, \"-\" or null for unknown values, and escapes everything")
    func text() {
        var event = AccessLogEvent()
        event.uri = "https://h/a b\"\u{202E}.m3u8"
        event.playbackSessionID = "6F"
        event.durationWatched = .seconds(1.23456)
        event.observedBitrate = 1_234_567.8
        let log = AccessLog(events: [event, AccessLogEvent()])
        let lines = log.extendedLogText.split(separator: "\n")
        #expect(lines.count == 5)
        let headers = lines.filter { $0.hasPrefix("#Fields: date time uri s-ip s-ip-changes cs-guid sc-count ") }
        #expect(headers.count == 1)
        let columns = lines[2].split(separator: " ").dropFirst()
        let fields = lines[3].split(separator: " ")
        #expect(fields.count == columns.count)
        #expect(columns.count == 29)
        let row = Dictionary(zip(columns, fields)) { first, _ in first }
        #expect(row["uri"] == "https://h/a%20b%22%E2%80%AE.m3u8")
        #expect(row["date"] == "-" && row["time"] == "-" && row["c-startup-time"] == "-" && row["s-ip"] == "-")
        #expect(row["c-duration-watched"] == "1.235")
        #expect(row["c-observed-bitrate"] == "1234568")
        #expect(row["c-stalls"] == "0")
        #expect(log.extendedLogData() == Array(log.extendedLogText.utf8))
        let json = log.jsonLines.split(separator: "\n")
        #expect(json.count == 2)
        #expect(json[0].contains(#""uri":"https://h/a b\"\u202e.m3u8","server_address":null"#))
        #expect(json[0].hasPrefix(#"{"v":1,"event":"access_log","playback_start_date":null,"#))
        #expect(json[1].contains(#""startup_time":-1,"#))
    }
}
