import HLSKitLoading
import HLSKitPlaylist

struct FileAccess: Sendable {
    /// The size of the file, or `nil` if the server does not report it.
    let byteCount: Int?
    /// Whether the server accepts byte ranges, or `nil` if it does not say.
    private let declaresRanges: Bool?

    /// - Parameter takesRanges: Whether an earlier range request succeeded, or `nil` if there was none.
    init(_ response: TransportResponse, takesRanges: Bool? = nil) {
        func value(_ name: String) -> String? {
            response.fields.first { ResponseHead.isEqual($0.name, name) }?.value.lowercased()
        }
        let isCoded = ContentCoding.isUsed(in: response.fields)
        let range = value("Content-Range").flatMap { ContentRange($0) }
        let count = response.status == 206 ? range?.total.flatMap { Int(exactly: $0) } : response.contentLength
        byteCount = isCoded ? nil : count
        if response.status == 206 {
            declaresRanges = true
        } else if LocalFile.isFileURL(response.urlString) {
            declaresRanges = true
        } else {
            declaresRanges = takesRanges ?? value("Accept-Ranges").map { $0.contains("bytes") }
        }
    }

    /// Whether the server accepts range requests for the file. If it does not say, this costs a request.
    ///
    /// Source: RFC 9110 §14.3: a server that does not declare support may still support ranges.
    func takesRanges(_ url: String, client: ResourceClient) async throws -> Bool {
        guard let byteCount, byteCount > 1 else { return false }
        if let declaresRanges { return declaresRanges }
        do {
            return try await client.load(url, .segment, range: 0..<1, limit: 1, namedBy: nil) { StatusReader() } == 206
        } catch is HLSError {
            return false
        }
    }
}

private struct StatusReader: ResourceReader {
    private var status = 0

    mutating func begin(_ response: TransportResponse) { status = response.status }
    mutating func take(_ bytes: [UInt8]) -> Int? { status }
    mutating func finish() -> Int { status }
}
