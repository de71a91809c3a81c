/// The URLs of one request, and the rules for the next one (R22, R23).
package struct RedirectChain: Sendable {
    private(set) var urls: [HTTPURL]
    private let maximumCount: Int
    private let allowsDowngrade: Bool

    package init(from url: HTTPURL, maximumCount: Int, allowsDowngrade: Bool) {
        urls = [url]
        self.maximumCount = maximumCount
        self.allowsDowngrade = allowsDowngrade
    }

    package var redirectCount: Int { urls.count - 1 }

    /// Follows a `Location` from `url`, the newest URL of the chain.
    package mutating func follow(_ location: String, from url: HTTPURL, status: Int) throws(LoadingError) -> HTTPURL {
        var next: HTTPURL
        do throws(LoadingError) {
            next = try url.resolving(location)
        } catch {
            throw LoadingError(code: .refused, url: url.text, status: status, text: "redirect refused: \(error.text)")
        }
        // User information in a Location belongs to the server, not to the user.
        next.userInfo = next.origin == url.origin ? url.userInfo : nil
        if url.origin.scheme == "https", next.origin.scheme == "http", !allowsDowngrade {
            throw LoadingError(
                code: .refused, url: url.text, status: status,
                text: "redirect from https to http (\(next.text)) refused")
        }
        guard redirectCount < maximumCount else {
            throw LoadingError(code: .tooManyRedirects, url: urls[0].text, status: status, text: describe(next))
        }
        urls.append(next)
        return next
    }

    private func describe(_ next: HTTPURL) -> String {
        if let first = urls.lastIndex(of: next) {
            return "redirect loop: " + (urls[first...].map(\.text) + [next.text]).joined(separator: " -> ")
        }
        return "more than \(maximumCount) redirects: " + urls.map(\.text).joined(separator: " -> ")
    }
}
