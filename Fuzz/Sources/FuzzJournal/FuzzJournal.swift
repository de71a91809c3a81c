import HLSKitCore
@testable import HLSKitDownload

/// Checks that parsing ends, that a journal names only files of its download, and that writing and parsing it again
/// changes nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let journal = DownloadJournal(parsing: bytes) else { return 0 }
    precondition(journal.validByteCount <= bytes.count)
    let segments = journal.segments.keys.sorted().flatMap { journal.segments(of: $0) }
    let files = segments.compactMap { $0.file?.name } + segments.flatMap(\.resources) + Array(journal.resources.keys)
    for name in files { precondition(DownloadName.isOfMedia(name) && !name.split(separator: "/").contains("..") && !name.hasPrefix("/")) }
    var entries = [DownloadJournal.Entry.header(url: journal.url, identity: journal.identity)]
    entries += journal.resources.values.map { .resource($0) } + segments.map { .segment($0) }
    let again = DownloadJournal(parsing: entries.flatMap(\.line))
    precondition(again?.segments == journal.segments && again?.resources == journal.resources)
    precondition(again?.url == journal.url && again?.identity == journal.identity)
    return 0
}
