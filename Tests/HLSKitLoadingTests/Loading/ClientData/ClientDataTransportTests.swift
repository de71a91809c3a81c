import HLSKitLoading
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@Suite("Sending client data", .timeLimit(.minutes(10)))
struct ClientDataTransportTests {
    private static let url = "https://a.example/1.m4s?token=x#f"

    private final class Network: ResourceTransport {
        let asked = Mutex<[TransportRequest]>([])
        let answer: @Sendable (TransportRequest) -> [TransportEvent]

        init(_ answer: @escaping @Sendable (TransportRequest) -> [TransportEvent]) { self.answer = answer }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            asked.withLock { $0.append(request) }
            return SyntheticResponse(answer(request), on: nil, handler: handler)
        }
    }

    private static func settings(_ transmission: ClientData.Transmission) -> ClientData {
        var data = ClientData()
        data.transmission = transmission
        data.keys = ["sid", "ot"]
        return data
    }

    private static func load(
        _ network: Network, _ transmission: ClientData.Transmission,
        _ change: (inout TransportRequest) -> Void = { _ in }
    ) async -> Result<TransportResponse, HLSError>? {
        let transport = ClientDataTransport(network, settings(transmission), sessionID: "s")
        var request = TransportRequest(urlString: url, resourceClass: .key)
        change(&request)
        for await event in transport.events(for: request) {
            switch event {
            case .response(let response): return .success(response)
            case .failed(let error, _): return .failure(error)
            default: break
            }
        }
        return nil
    }

    @Test("client data is sent in header fields, next to the user's, and replaces existing ones")
    func headers() async throws {
        let network = Network { [.response(TransportResponse(status: 200, urlString: $0.urlString))] }
        _ = await Self.load(network, .headers) {
            $0.fields = [
                TransportField(name: "X", value: "1"), TransportField(name: "cmcd-session", value: "sid=\"old\""),
            ]
        }
        let sent = try #require(network.asked.withLock { $0 }.first)
        #expect(sent.urlString == Self.url)
        #expect(
            sent.fields == [
                TransportField(name: "X", value: "1"), TransportField(name: "CMCD-Object", value: "ot=k"),
                TransportField(name: "CMCD-Session", value: "sid=\"s\""),
            ])
    }

    @Test("client data is in the query before the fragment; the caller sees the original URL")
    func query() async throws {
        let sentURL = "https://a.example/1.m4s?token=x&CMCD=ot%3Dk%2Csid%3D%22s%22#f"
        let network = Network { [.response(TransportResponse(status: 200, urlString: $0.urlString))] }
        let result = await Self.load(network, .query)
        #expect(network.asked.withLock { $0.map(\.urlString) } == [sentURL])
        #expect(network.asked.withLock { $0.map(\.resourceURLString) } == [Self.url])
        #expect(try result?.get().urlString == Self.url)
    }

    @Test("client data already in the query is replaced")
    func others() async throws {
        let network = Network { [.response(TransportResponse(status: 200, urlString: $0.urlString))] }
        let named = "https://a.example/1.m4s?CMCD=sid%3D%22x%22&token=x"
        let result = await Self.load(network, .query) { $0.urlString = named }
        #expect(
            network.asked.withLock { $0.map(\.urlString) } == [
                "https://a.example/1.m4s?token=x&CMCD=ot%3Dk%2Csid%3D%22s%22"
            ])
        #expect(try result?.get().urlString == named)
    }

    @Test("errors unknown to the player are sent with the next request")
    func errors() async throws {
        let network = Network {
            [.failed(LoadingError(code: .timedOut, url: $0.urlString, text: "late"), TransferMetrics())]
        }
        var settings = Self.settings(.headers)
        (settings.version, settings.keys) = (.two, ["ec"])
        let transport = ClientDataTransport(network, settings, sessionID: "s")
        var playing = ClientDataFacts()
        playing.state = .playing
        for note in [nil, ClientDataNote(playing), nil, nil] {
            var request = TransportRequest(urlString: Self.url, resourceClass: .key)
            request.clientData = note
            for await _ in transport.events(for: request) {}
        }
        let reported = network.asked.withLock { $0.map { $0.fields.first { $0.isNamed("CMCD-Status") }?.value } }
        #expect(reported == [nil, nil, #"ec=("timedOut")"#, #"ec=("timedOut")"#])
    }

    @Test("errors and redirects reveal no client data")
    func elsewhere() async throws {
        let failing = Network {
            [.failed(LoadingError(code: .timedOut, url: $0.urlString, text: "late"), TransferMetrics())]
        }
        guard case .failure(let error)? = await Self.load(failing, .query) else {
            Issue.record("did not fail")
            return
        }
        #expect(error.urlString == Redaction.url(Self.url))
        let moved = Network { request in
            let query = request.urlString.drop { $0 != "?" }
            return [.response(TransportResponse(status: 200, urlString: "https://b.example/2.m4s\(query)"))]
        }
        #expect(try await Self.load(moved, .query)?.get().urlString == "https://b.example/2.m4s?token=x#f")
        let bare = Network { _ in
            [.response(TransportResponse(status: 200, urlString: "https://b.example/2.m4s?CMCD=ot%3Dk"))]
        }
        #expect(try await Self.load(bare, .query)?.get().urlString == "https://b.example/2.m4s")
    }

    @Test("files and reports get no client data", arguments: [true, false])
    func unmarked(isReport: Bool) async {
        let network = Network { [.response(TransportResponse(status: 200, urlString: $0.urlString))] }
        _ = await Self.load(network, .headers) {
            if isReport { $0.body = [1] } else { $0.urlString = "file:///tmp/1.m4s" }
        }
        #expect(network.asked.withLock { $0.map(\.fields) } == [[]])
    }
}
