import Foundation
import Testing

@testable import lanekeeper

@Suite struct InputFileTests {
    @Test func `files: one that is not there, a folder, and one without permission are told apart, with what to do`()
        async throws
    {
        // A process of its own, which gives up root's right to read anything.
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("lanekeeper-input-\(ProcessInfo.processInfo.globallyUniqueString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("kept").path
            try Data("abc".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try readBytes(of: file) == Array("abc".utf8))
            chmod(file, 0)
            let own = geteuid()
            if own == 0 { seteuid(65_534) }
            for (path, reason) in [
                (file, "there is no permission; let this user read it, and enter the folders above it"),
                ("\(file)/below", "there is no such file; is the path right?"),
                ("\(file).none", "there is no such file; is the path right?"),
                (folder.path, "it is a folder; name a file"),
            ] {
                let error = #expect(throws: WrongUse.self) { _ = try readBytes(of: path) }
                #expect(error?.text == "\(path) cannot be read: \(reason)")
            }
            #expect(throws: UnreadableFile.isForbidden) { try readFile(file) }
            if own == 0 { seteuid(own) }
        }
    }

    @Test func `configuration: a secret's file that cannot be read is a fault with where and why`() async throws {
        try await BuiltProgram.inFolder { folder in
            let file = folder.appendingPathComponent("c.json5")
            try Data("{\n  store: { url: { file: 'none' } } }".utf8).write(to: file)
            let faults = #expect(throws: (any Error).self) {
                try ConfiguredOptions(["--config", file.path], of: "check").read()
            }
            let text = faults.map { "\($0)" } ?? ""
            #expect(text.contains("c.json5:2: store.url: "), "\(text)")
            #expect(text.contains("none cannot be read: there is no such file; is the path right?"), "\(text)")
        }
    }
}
