import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// The keys and initialization sections of a lane, for all segments that need them.
struct ResourceBodies: Sendable {
    private var bodies: [ResourceID: [UInt8]] = [:]
    private var initializations: [ResourceID: MP4InitializationSection] = [:]
    /// Initialization sections of transport streams and of WebVTT.
    private var prologues: [ResourceID: [UInt8]] = [:]

    mutating func provide(_ resource: ResourceID, _ bytes: [UInt8]) { bodies[resource] = bytes }

    /// What decrypts a resource as a whole; nil where its key is not there, or none.
    func decryption(with key: SegmentKey) -> SegmentDecryption? {
        guard !key.isOfSamples, let bytes = bodies[key.resource] else { return nil }
        return try? SegmentDecryption(key: bytes, vector: key.initializationVector)
    }

    /// Gives a segment its key and its initialization section. False while one of them is still on its way.
    mutating func prepare(
        _ reader: inout SegmentReader, needsInitialization: Bool
    ) throws(SegmentFailure) -> Bool {
        if let key = reader.job.key {
            guard let bytes = bodies[key.resource] else { return false }
            let vector = key.initializationVector
            if key.isOfSamples {
                reader.sampleDecryption = try SampleDecryption(key: bytes, vector: vector)
            } else {
                reader.decryption = try SegmentDecryption(key: bytes, vector: vector)
            }
        }
        if let map = reader.job.map, needsInitialization {
            guard let bytes = bodies[map] else { return false }
            if let known = initializations[map] {
                reader.initialization = known
            } else if let tables = prologues[map] {
                reader.prologue = tables
            } else {
                var clear = bytes
                if let key = reader.job.mapKey {
                    guard let keyBytes = bodies[key.resource] else { return false }
                    clear = try SegmentDecryption.decryptWhole(bytes, key: keyBytes, key.initializationVector)
                }
                do throws(MediaError) {
                    switch ContainerProbe.identify(clear[...], isComplete: true) {
                    case .transportStream, .webVTT:
                        prologues[map] = clear
                        reader.prologue = clear
                    default:
                        let section = try MP4InitializationSection(parsing: clear[...])
                        initializations[map] = section
                        reader.initialization = section
                    }
                } catch {
                    // Whoever needs it next waits for it to be loaded anew.
                    bodies[map] = nil
                    throw .badInitializationSection(error)
                }
            }
        }
        return true
    }
}
