import HLSKitCaptions
import HLSKitTime

/// Invariants that must hold for any bytes. Tests use them and, through a link, the fuzzers in `Fuzz/`.
enum ReaderChecks {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Checks that reading ends, and that the captions can be written in every format and read again.
    static func check(_ bytes: [UInt8], as format: CaptionFormat) throws(Failure) {
        let content: CaptionFileReader.Content
        do { content = try CaptionFileReader(format: format).read(bytes) } catch { return }
        for caption in content.captions {
            guard caption.timeRange.isValid, caption.timeRange.start.isNumeric else {
                throw Failure(description: "a caption without a time: \(caption)")
            }
            let count = caption.text.unicodeScalars.count
            guard caption.styles.allSatisfy({ $0.range.lowerBound >= 0 && $0.range.upperBound <= count }) else {
                throw Failure(description: "a style outside of its text: \(caption)")
            }
        }
        // The fuzzer checks the time of unlimited captions, but not their writing.
        let captions = Array(content.captions.prefix(200))
        for target in CaptionFormat.allCases {
            let written: [UInt8]
            // Writing fails if the format cannot express a time.
            do { written = try CaptionFileWriter(format: target).write(captions).bytes } catch { continue }
            do {
                let again = try CaptionFileReader(format: target).read(written)
                guard target == .scenarist || again.captions.count <= captions.count else {
                    throw Failure(description: "\(target): more captions than were written")
                }
            } catch let error as CaptionError {
                // A file without captions, or with captions without text, need not be recognized.
                guard captions.allSatisfy({ $0.text.isEmpty }) || target == .subRip else {
                    throw Failure(description: "\(target): what was written cannot be read: \(error)")
                }
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(description: "\(error)")
            }
        }
    }
}
