import HLSKitLoading
import HLSKitMedia

/// Tells the index of a whole file from that of its first fragment.
///
/// A fragmented file has one index in front of all media, or one in front of each fragment. They look alike, but for what
/// lies behind the media that they describe.
struct FileIndex {
    let url: String
    /// nil if the server does not say.
    let byteCount: Int?
    let client: ResourceClient

    /// The first index of the file if it describes all of its media; nil otherwise.
    ///
    /// Costs a request for 8 bytes where something lies behind that media.
    func whole(_ index: SegmentIndex?) async throws -> SegmentIndex? {
        guard let index, let end = index.endOffset else { return nil }
        // An index of a single fragment has one reference as a rule.
        guard let byteCount else { return index.references.count > 1 ? index : nil }
        guard end < byteCount else { return index }
        let until = min(byteCount, end + 8)
        do {
            let bytes = try await client.bytes(
                url, .segment, range: UInt64(end)..<UInt64(until), limit: until - end, namedBy: nil)
            return index.isFollowedByMedia(bytes) ? nil : index
        } catch is HLSError {
            return nil
        }
    }
}
