import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

/// Parts of 0.5 s with 1 Mbit/s, over links on which one connection is enough or nearly enough.
@Suite("Connections for parts during playback", .timeLimit(.minutes(10)))
struct PartConnectionTests {
    private static func play(
        _ stage: PartStage, wrapping wrap: @escaping @Sendable (any ResourceTransport) -> any ResourceTransport = { $0 }
    ) throws -> (session: PartStage.Session, requests: [TransportRequest]) {
        let counting = Mutex<CountingTransport?>(nil)
        let session = try stage.play { configuration in
            let transport = CountingTransport(wrap(configuration.transport))
            counting.withLock { $0 = transport }
            configuration.transport = transport
            configuration.decodesWithoutOutput = [.video]
        }
        return (session, try #require(counting.withLock { $0 }).requests)
    }

    private static func stage(_ protocolName: String, bitsPerSecond: Double) -> PartStage {
        var origin = LowLatencyOrigin()
        origin.protocolName = protocolName
        return PartStage(origin: origin, limit: .seconds(30), bitsPerSecond: bitsPerSecond, presents: false)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var protocolName = "h2"
        var bitsPerSecond: Double
        var areOwn: Bool
    }

    static let cases = [
        Case(testDescription: "a fast link", bitsPerSecond: 20_000_000, areOwn: false),
        Case(testDescription: "a link that is just enough", bitsPerSecond: 1_400_000, areOwn: true),
        Case(
            testDescription: "each request has a connection", protocolName: "http/1.1", bitsPerSecond: 1_400_000,
            areOwn: false),
    ]

    @Test(
        "M05: parts late over a shared connection use separate ones, playlists do not",
        arguments: cases)
    func choice(_ test: Case) throws {
        let (session, requests) = try Self.play(
            Self.stage(test.protocolName, bitsPerSecond: test.bitsPerSecond))
        let own = requests.filter(\.usesOwnConnection)
        #expect(own.isEmpty != test.areOwn, "\(session.play.log.text)")
        #expect(own.allSatisfy { $0.resourceClass == .segment })
        if test.areOwn {
            #expect(own.count > 40, "from soon after the start on")
            let later = requests.drop { !$0.usesOwnConnection }.filter { $0.resourceClass == .segment }
            #expect(later.count == own.count, "all from then on")
        }
        #expect(session.lossCount == 0)
    }

    private struct Refusing: ResourceTransport {
        let base: any ResourceTransport

        private final class Ended: TransportTask {
            func cancel() {}
            func pause() {}
            func resume() {}
        }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            guard request.usesOwnConnection else { return base.start(request, handler: handler) }
            handler(
                .failed(
                    LoadingError(code: .tlsHandshake, url: request.urlString, text: "no application protocol"),
                    TransferMetrics()))
            return Ended()
        }
    }

    @Test("M05: if a separate connection is refused, parts use the shared one without a loss")
    func refused() throws {
        let (session, requests) = try Self.play(Self.stage("h2", bitsPerSecond: 1_400_000)) { Refusing(base: $0) }
        let own = requests.count(where: \.usesOwnConnection)
        #expect((1...3).contains(own), "\(own)")
        #expect(session.lossCount == 0, "\(session.play.log.text)")
        #expect(requests.last { $0.resourceClass == .segment }?.usesOwnConnection == false)
        #expect(session.play.state.statistics.numberOfDecodedVideoFrames > 600)
    }
}
