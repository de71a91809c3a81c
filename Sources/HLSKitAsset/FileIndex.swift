import HLSKitLoading
import HLSKitMedia

/// Distinguishes the index of a whole file from the index of its first fragment.
///
/// A fragmented file has one index before all media, or one before each fragment. The indexes look alike. Only the data
/// after the media that they describe shows the difference.
struct FileIndex {
    let url: String
    let byteCount: Int?
    let client: ResourceClient

    /// Returns the first index of the file if it describes all media, otherwise `nil`.
    ///
    /// Costs a request for 8 bytes if the file continues after that media.
    func whole(_ index: SegmentIndex?) async throws -> SegmentIndex? {
        guard let index, let end = index.endOffset else { return nil }
        // An index of a single fragment usually has one reference.
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
