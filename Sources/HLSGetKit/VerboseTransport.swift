import HLSKitCore

struct VerboseTransport: ResourceTransport {
    let base: any ResourceTransport
    let say: @Sendable (String) -> Void

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let (asked, say) = (request.urlString, say)
        return base.start(request) { event in
            if let line = Self.line(for: event, asked: asked) { say(line) }
            handler(event)
        }
    }

    static func line(for event: TransportEvent, asked: String) -> String? {
        switch event {
        case .response(let response) where response.urlString != asked:
            "hlsget: redirected: \(ErrorLine.printable(url: asked)) -> \(ErrorLine.printable(url: response.urlString))"
        case .failed(let error, _) where error.code != .cancelled:
            ErrorLine.line(
                error.statusCode.map { "HTTP \($0)" } ?? error.cause, url: error.urlString ?? asked,
                detail: error.detail ?? "the request may be made again", severity: "warning")
        default: nil
        }
    }
}
