import CLibAV
package import HLSKitMedia
import HLSKitTime

extension Muxer {
    private static let chapterTimescale: Int32 = 1_000_000

    /// Sets the metadata of the file. Muxers write it with the header.
    func set(_ tags: [FileMetadata.Tag]) {
        for tag in tags { av_dict_set(&context.pointee.metadata, tag.name, tag.value, 0) }
    }

    /// Adds the chapters of the file, once. Muxers of MP4 and Matroska write them with the header or, if the output can
    /// be changed, with the trailer.
    package func add(_ chapters: [FileMetadata.Chapter]) {
        let stride = MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride
        guard context.pointee.nb_chapters == 0, !chapters.isEmpty, let memory = av_mallocz(chapters.count * stride)
        else { return }
        let list = memory.bindMemory(to: UnsafeMutablePointer<AVChapter>?.self, capacity: chapters.count)
        // The context frees them.
        context.pointee.chapters = list
        for (index, entry) in chapters.enumerated() {
            guard let memory = av_mallocz(MemoryLayout<AVChapter>.size) else { return }
            let chapter = memory.bindMemory(to: AVChapter.self, capacity: 1)
            chapter.pointee.id = Int64(index + 1)
            chapter.pointee.time_base = AVRational(num: 1, den: Self.chapterTimescale)
            chapter.pointee.start = Self.microseconds(entry.start)
            chapter.pointee.end = max(chapter.pointee.start, Self.microseconds(entry.end ?? entry.start))
            av_dict_set(&chapter.pointee.metadata, "title", entry.title, 0)
            list[index] = chapter
            context.pointee.nb_chapters += 1
        }
    }

    /// Limits times to 30 years, because muxers compute with them unchecked.
    private static func microseconds(_ time: Duration) -> Int64 {
        min(max(time, .zero), .seconds(1_000_000_000)).wholeMicroseconds
    }
}
