import Foundation
import HLSGetKit
import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@testable import HLSGetReport

@Suite("Reports of played sessions")
struct ReportPlaybackTests {
    @Test("the script digest in the page's policy matches the script")
    func digest() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(ReportScript.text.utf8), to: "script")
        let sum = try await Command(["/usr/bin/sha256sum", folder.path + "/script"]).result()
        let digits = Array(String(decoding: sum.output.prefix(64), as: UTF8.self))
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        #expect(ReportScript.digest == "sha256-" + Data(bytes).base64EncodedString())
    }

    private static func played() throws -> String {
        let clock = VirtualClock()
        func link(_ bitsPerSecond: Double, _ seconds: Int) -> NetworkTrace.Period {
            .init(
                duration: .seconds(seconds),
                conditions: LinkConditions(bitsPerSecond: bitsPerSecond, latency: .milliseconds(40)))
        }
        let trace = try NetworkTrace(periods: [link(2_000_000, 2), link(40_000, 60), link(2_000_000, 600)])
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            let name = request.urlString.split(separator: "/").last ?? ""
            guard let data = FileManager.default.contents(atPath: "\(SampleMedia.folder)/\(name)") else {
                return SimulatedResponse(status: 404)
            }
            return SimulatedResponse(body: Array(data))
        }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: "https://sample.invalid/master.m3u8")
        let lines = ReportLines(records: true, writes: false)
        let reporter = SharedReporter()
        let (events, metrics) = (player.events(), item.allMetrics())
        lines.take(EventReporter.session(url: "https://sample.invalid/master.m3u8"))
        player.play()
        try player.replaceCurrentItem(with: item)
        try clock.run {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await metric in metrics { lines.take(metric.jsonLine) } }
                group.addTask {
                    for await event in events {
                        for line in reporter.lines({ $0.lines(for: event, at: event.hostTime.offset) }) {
                            lines.take(line)
                        }
                        if case .didPlayToEnd = event.kind { break }
                    }
                    await player.close()
                    try? await clock.sleep(for: .seconds(1))
                }
                group.addTask {
                    while !Task.isCancelled {
                        guard (try? await clock.sleep(for: .milliseconds(500))) != nil else { return }
                        let (state, time) = (player.state, clock.now.offset)
                        for line in reporter.lines({ $0.lines(for: state, at: time) }) { lines.take(line) }
                    }
                }
                _ = await group.next()
                group.cancelAll()
            }
        }
        return lines.page?.html ?? ""
    }

    @Test(
        "a session in virtual time gives the same page byte for byte and explains its stall",
        .timeLimit(.minutes(10)))
    func virtualTime() throws {
        let html = try Self.played()
        #expect(html.contains("It stalled "))
        #expect(html.contains("the network was too slow"))
        #expect(html.contains("1970-01-01"))
        #expect(try Self.played() == html)
    }
}

/// Shares an event reporter between the tasks for events and for states.
private final class SharedReporter: Sendable {
    private let reporter = Mutex(EventReporter())

    func lines(_ body: (inout EventReporter) -> [String]) -> [String] { reporter.withLock { body(&$0) } }
}
