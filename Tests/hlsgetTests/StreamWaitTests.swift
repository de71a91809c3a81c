import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("Waiting for a stream that has not begun", .ownThread, .timeLimit(.minutes(10)))
struct StreamWaitTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        @discardableResult
        func add() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// Waits in virtual time for a stream that is missing `count` times. Each attempt takes `duration`.
    private static func run(
        _ wait: WaitArgument, missing count: Int, then last: StreamWait.Finding = .isThere,
        each duration: Duration = .zero
    ) throws -> (tries: Int, time: Duration, tellings: Int) {
        let clock = VirtualClock()
        let (tries, tellings) = (Counter(), Counter())
        try clock.run {
            let waiting = StreamWait(wait: wait, clock: SourceClock(clock)) {
                if duration > .zero { try await clock.sleep(for: duration) }
                return tries.add() <= count ? .isMissing : last
            }
            try await waiting.run { tellings.add() }
        }
        return (tries.value, clock.now.offset, tellings.value)
    }

    @Test("Q05: the stream is requested every five seconds until it exists or time is up, with one message")
    func waiting() throws {
        #expect(try Self.run(WaitArgument(limit: nil), missing: 0) == (1, .zero, 0))
        #expect(try Self.run(WaitArgument(limit: nil), missing: 1000) == (1001, .seconds(5000), 1))
        #expect(try Self.run(WaitArgument(limit: .seconds(12)), missing: 1000) == (4, .seconds(12), 1))
        #expect(try Self.run(WaitArgument(limit: .seconds(12)), missing: 2) == (3, .seconds(10), 1))
        #expect(try Self.run(WaitArgument(limit: nil), missing: 2, then: .isHopeless) == (3, .seconds(10), 1))
    }

    @Test("Q05: time spent on an unresponsive server counts as well")
    func slow() throws {
        #expect(
            try Self.run(WaitArgument(limit: .seconds(12)), missing: 1000, each: .seconds(8)) == (2, .seconds(21), 1))
        #expect(try Self.run(WaitArgument(limit: .zero), missing: 1000, each: .seconds(8)) == (1, .seconds(8), 0))
    }

    @Test(
        "Q05: temporary failures are waited for, permanent ones are not",
        arguments: [
            (.httpStatus, 404, .isMissing), (.httpStatus, 503, .isMissing), (.httpStatus, 401, .isHopeless),
            (.httpStatus, 403, .isHopeless), (.cannotConnect, nil, .isMissing), (.nameNotFound, nil, .isMissing),
            (.refused, nil, .isHopeless), (.untrustedCertificate, nil, .isHopeless), (.fileNotFound, nil, .isMissing),
            (.badURL, nil, .isHopeless),
        ] as [(LoadingError.Code, Int?, StreamWait.Finding)])
    func findings(code: LoadingError.Code, status: Int?, finding: StreamWait.Finding) {
        let error = LoadingError(code: code, url: "https://host/a.m3u8", status: status, text: "")
        #expect(StreamWait.finding(error) == finding)
    }

    @Test("Q05: a stream without segments is waited for, then it is played or saved")
    func endToEnd() async throws {
        let files = try CutStream.files()
        let empty = Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n".utf8)
        for arguments in [["--fast", "-o", "a.mkv"], ["download", "-o", "b.mp4"]] {
            let folder = try ScratchFolder()
            let origin = FaultyOrigin(files, ["v.m3u8": (.bytes(empty), 1)])
            try await withServer(answering: origin.answer) { server in
                let result = try await hlsget(arguments + ["--wait", "1s", "\(server.url)/master.m3u8"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.errors.contains("waiting for"))
            }
        }
    }

    @Test("Q05: a stream that never appears fails as without waiting")
    func never() async throws {
        let origin = FaultyOrigin([:])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("--wait", "1s", "--retries", "0", "\(server.url)/master.m3u8")
            #expect(result.status == 3, "\(result.errors)")
            #expect(result.errorLines.last?.contains("not found") == true)
        }
    }
}
