import HLSGetKit
import HLSKitCaptions
import HLSKitCore

enum SidecarFile {
    /// The name of its subtitles option, which no stream uses.
    private static let name = "--subs-file"

    static var preference: QualityExpression? { try? QualityExpression(parsing: "name=\(name)", for: .renditions) }

    static func read(_ path: String) throws(HLSError) -> SidecarCaptions {
        func failure(_ detail: String) -> HLSError {
            HLSError(code: .badMedia, urlString: path, cause: "the captions cannot be read", detail: detail)
        }
        guard let bytes = try? FileBytes.read(path, atMost: CaptionFileReader.maxByteCount + 1) else {
            throw failure("no such file")
        }
        guard let reader = CaptionFileReader(guessingFrom: bytes) else {
            throw failure("not a .vtt, .srt, .itt or .scc file")
        }
        do {
            let content = try reader.read(bytes)
            return SidecarCaptions(content.captions, name: name, language: content.language)
        } catch {
            throw failure("\(error)")
        }
    }
}
