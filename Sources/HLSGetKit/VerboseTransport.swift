import HLSKitCore

/// Reports each failed attempt and redirect of requests (`-v`).
struct VerboseTransport: ResourceTransport {
    let base: any ResourceTransport
    /// Called with each line.
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

    /// Returns `nil` if there is nothing to report.
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
